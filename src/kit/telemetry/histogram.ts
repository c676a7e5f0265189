/**
 * Counts values by size, such as requests that took up to one millisecond, up to ten, and so on. The steps are fixed, so
 * that recording a value allocates nothing and histograms of several processes can be added.
 */
export class Histogram {
  readonly steps: readonly number[]
  /** The count for each step, above the previous one; the last element counts values above all steps. */
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

  /** Cumulative counts by step; the last element is the total. */
  upTo(): number[] {
    let sum = 0
    return Array.from(this.#counts, count => {
      sum += count
      return sum
    })
  }
}

/** Steps for durations from half a millisecond to ten seconds. */
export const SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const
