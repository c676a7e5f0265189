/** First in, first out. An array alone would move all others whenever the first one leaves. */
export class Fifo<Item> {
  #items: Item[] = []
  #start = 0

  get length(): number {
    return this.#items.length - this.#start
  }

  get first(): Item | undefined {
    return this.#items[this.#start]
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  shift(): Item | undefined {
    const item = this.#items[this.#start]
    if (item === undefined) return undefined
    this.#start += 1
    if (this.#start > 1000 || this.#start === this.#items.length) {
      this.#items = this.#items.slice(this.#start)
      this.#start = 0
    }
    return item
  }

  /** Removes an item, which is most often the first. False if it is not there. */
  remove(item: Item): boolean {
    if (this.first === item) return this.shift() !== undefined
    const index = this.#items.indexOf(item, this.#start)
    if (index < 0) return false
    this.#items.splice(index, 1)
    return true
  }
}
