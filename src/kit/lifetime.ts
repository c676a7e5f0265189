/** Closes resources in the reverse order of opening. All closers run, even if some fail. */
export class Lifetime {
  readonly #closers: (() => unknown)[] = []

  onClose(closer: () => unknown): void {
    this.#closers.push(closer)
  }

  async close(): Promise<void> {
    const failures: unknown[] = []
    for (let closer = this.#closers.pop(); closer !== undefined; closer = this.#closers.pop()) {
      try {
        await closer()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'some resources did not close cleanly')
  }
}

/** Calls `work` every `milliseconds`, never concurrently. Failures are reported and do not stop the repetition. */
export function repeatedly(
  milliseconds: number,
  work: () => Promise<void>,
  onFailure: (error: unknown) => void,
): { stop(): Promise<void> } {
  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    running ??= work()
      .catch(onFailure)
      .finally(() => {
        running = undefined
      })
  }, milliseconds)
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
