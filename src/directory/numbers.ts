import { must } from '../kit/must.ts'

/** Assigns small consecutive numbers to names, in the order of their first use. */
export class Numbers {
  readonly #known = new Map<string, number>()
  readonly #names: string[] = []

  get size(): number {
    return this.#names.length
  }

  of(name: string): number {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const number = this.#names.push(name) - 1
    this.#known.set(name, number)
    return number
  }

  nameOf(number: number): string {
    return must(this.#names[number], 'the name of a number')
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
