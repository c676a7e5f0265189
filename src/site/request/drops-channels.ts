/** Where viewers earn drops now, from memory. */
import type { PageServices } from './session.ts'

type Needed = Pick<PageServices, 'campaigns' | 'clock'>

interface PlayedStream {
  readonly user_id: string
  readonly game_id: string
}

/** The channels of these streams on which a campaign counts, by user id. */
export function listDropsChannels(streams: readonly PlayedStream[], { campaigns, clock }: Needed): string[] {
  const now = clock.now()
  const found = streams.filter(
    ({ user_id, game_id }) => campaigns.countingOn(user_id, game_id, now).length > 0,
  )
  return [...new Set(found.map(({ user_id }) => user_id))]
}

/** The login of a live channel that counts for a campaign, the one with the most viewers; not that of the viewer. */
export async function findCountingChannel(
  campaign_id: string,
  viewer_id: string | undefined,
  { campaigns, directory, clock }: Needed & Pick<PageServices, 'directory'>,
): Promise<string | undefined> {
  const open = campaigns.find(campaign_id)
  if (open === undefined) return undefined
  if (!directory.isComplete) await directory.complete()
  const filter = { game_ids: [open.campaign.game_id], user_ids: open.channels && [...open.channels] }
  const { rows } = directory.page(filter, { first: 2, direction: 'forward' })
  const channels = rows.map(({ json }) => JSON.parse(json) as PlayedStream & { readonly user_login: string })
  const isCounting = ({ user_id, game_id }: PlayedStream) =>
    user_id !== viewer_id && campaigns.countingOn(user_id, game_id, clock.now()).length > 0
  return channels.find(isCounting)?.user_login
}
