import { Conflict, Unavailable } from '../store/errors.ts'

const PATIENCE_MILLISECONDS = 5000
const PAUSE_MILLISECONDS = 100

/** Waits for a store that is busy: sessions and messages come in crowds, and none should be lost for that. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENCE_MILLISECONDS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Unavailable || error instanceof Conflict) || performance.now() > until)
        throw error
      await Bun.sleep(PAUSE_MILLISECONDS)
    }
  }
}
