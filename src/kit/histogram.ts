/**
 * Counts by size: how many requests took up to a millisecond, up to ten, and so on. The steps are fixed, so that noting one
 * value allocates nothing, and figures of several processes can be added up.
 */
export class Histogram {
  readonly steps: readonly number[]
  /** How many fell between a step and the one before it; behind the last step, those above it. */
  readonly #counts: Float64Array
  #sum = 0

  constructor(steps: readonly number[]) {
    this.steps = steps
    this.#counts = new Float64Array(steps.length + 1)
  }

  note(value: number): void {
    const { steps } = this
    let place = 0
    while (place < steps.length && value > (steps[place] as number)) place += 1
    this.#counts[place] = (this.#counts[place] as number) + 1
    this.#sum += value
  }

  get sum(): number {
    return this.#sum
  }

  get count(): number {
    return this.#counts.reduce((sum, each) => sum + each, 0)
  }

  /** For each step how many were no larger, and last how many there were. */
  upTo(): number[] {
    let sum = 0
    return Array.from(this.#counts, count => {
      sum += count
      return sum
    })
  }
}

/** Steps for what takes from a fraction of a millisecond to ten seconds. */
export const SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const
