/** Assigns small consecutive numbers to names, in the order of their first use. */
export class Numbers {
  readonly #known = new Map<string, number>()

  of(name: string): number {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const number = this.#known.size
    this.#known.set(name, number)
    return number
  }

  /** The numbers of those names that have one, without duplicates. */
  find(names: readonly string[]): number[] {
    const numbers: number[] = []
    for (const name of names) {
      const number = this.#known.get(name)
      if (number !== undefined && !numbers.includes(number)) numbers.push(number)
    }
    return numbers
  }
}
