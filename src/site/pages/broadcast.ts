import type { BroadcastAnswer } from '../player/broadcast.ts'
import { findBroadcast } from '../request/find-broadcast.ts'
import type { PageHandler, PageServices } from '../request/session.ts'

/** GET /site/broadcast?user_id=: whether there is something to play, for the player of a page (D-259). Always 200. */
export const showBroadcast: PageHandler = async (browser, services: Pick<PageServices, 'store' | 'demo'>) => {
  const stream = await services.store.streams.of(browser.parameter('user_id') ?? '')
  const answer: BroadcastAnswer = { broadcast: (stream && (await findBroadcast(services, stream))) ?? null }
  return { json: answer }
}
