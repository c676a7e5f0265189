import { assertDefined } from '../kit/assert-defined.ts'
import { compareDecimal } from '../kit/decimal.ts'

/** Assigns small consecutive numbers to names, in the order of their first use. */
export class Numbers {
  readonly #known = new Map<string, number>()
  readonly #names: string[] = []
  #sorted: readonly number[] = []

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

  nameFor(number: number): string {
    return assertDefined(this.#names[number], 'the name of a number')
  }

  /** All numbers in the order of their names as decimal ids. Sorted only after names were added. */
  inDecimalOrder(): readonly number[] {
    if (this.#sorted.length !== this.size)
      this.#sorted = [...this.#names.keys()].sort((a, b) => compareDecimal(this.nameFor(a), this.nameFor(b)))
    return this.#sorted
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
