import type { BroadcastAnswer } from '../player/broadcast.ts'
import { findBroadcast } from '../request/find-broadcast.ts'
import type { PageHandler, PageServices } from '../request/session.ts'

/** GET /site/broadcast?user_id=: whether there is something to play, for the player of a page (D-259). Always 200. */
export const showBroadcast: PageHandler = async (browser, { store }: Pick<PageServices, 'store'>) => {
  const stream = await store.streams.of(browser.parameter('user_id') ?? '')
  const answer: BroadcastAnswer = { broadcast: (stream && (await findBroadcast(store, stream))) ?? null }
  return { json: answer }
}
