import { listDropsChannels } from '../request/drops-channels.ts'
import type { PageHandler, PageServices } from '../request/session.ts'
import { type DropsChannelsAnswer, MAX_ASKED } from '../scripts/drops-channels.ts'

/** GET /site/drops-channels?user_ids=: which of these channels count for drops, for the cards of a page (D-233). Always 200. */
export const showDropsChannels: PageHandler = async (
  browser,
  services: Pick<PageServices, 'directory' | 'campaigns' | 'clock'>,
) => {
  const asked = (browser.parameter('user_ids') ?? '').split(',').slice(0, MAX_ASKED)
  const streams = asked.map(user_id => ({ user_id, game_id: services.directory.findGame(user_id) ?? '' }))
  const answer: DropsChannelsAnswer = { user_ids: listDropsChannels(streams, services) }
  return { json: answer }
}
