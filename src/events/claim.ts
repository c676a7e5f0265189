import { uuid } from '../kit/id.ts'
import type { Log } from '../kit/telemetry/log.ts'
import type { Store } from '../store/store.ts'

/** Claims end after this time, in case this process dies: longer than a receiver or a client has to answer. */
export const CLAIM_MILLISECONDS = 30_000
const PAUSE_MILLISECONDS = 500

/**
 * Claims messages. A store that is busy may carry out a claim although its answer came too late: such a claim is undone, or
 * its messages would wait until it ends.
 */
export async function claimSafely<T>(
  { store, log }: { readonly store: Store; readonly log: Log },
  claimWith: (times: { readonly claim: string; readonly forMilliseconds: number }) => Promise<T>,
): Promise<T> {
  const times = { claim: uuid(), forMilliseconds: CLAIM_MILLISECONDS }
  try {
    return await claimWith(times)
  } catch (error) {
    void undo(store, times).then(
      messages => messages > 0 && log.info({ messages }, 'a claim of messages without an answer was undone'),
      reason => log.warn({ error: String(reason) }, 'a claim of messages could not be undone'),
    )
    throw error
  }
}

async function undo(store: Store, times: { claim: string; forMilliseconds: number }): Promise<number> {
  const until = performance.now() + CLAIM_MILLISECONDS
  for (;;) {
    try {
      return await store.commands.undoClaim(times)
    } catch (error) {
      if (performance.now() > until) throw error
      await Bun.sleep(PAUSE_MILLISECONDS)
    }
  }
}
