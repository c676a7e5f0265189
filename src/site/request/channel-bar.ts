/** The channels beside what plays: those that the person follows, and the most watched ones. */
import type { ChannelBarView } from '../components/channel-bar.tsx'
import { toShownStream } from '../components/stream-card.tsx'
import { unlessRefused } from '../scripts/refused.ts'
import { apiFor } from './api-for.ts'
import type { Browser } from './browser.ts'
import { type PageServices, readSession, type SessionServices } from './session.ts'

export type ChannelBarServices = SessionServices & Pick<PageServices, 'siteTokens' | 'callApi' | 'publicUrl'>

/** As many as fit into a window without scrolling, however many a person follows. */
const MAX_FOLLOWED = 12
const MAX_CHANNELS = 15

/** Without the channels that a limit of requests keeps back: the page itself does not need them. */
export async function readChannelBar(
  browser: Browser,
  services: ChannelBarServices,
  { except }: { readonly except: string },
): Promise<ChannelBarView> {
  const { helix } = await apiFor(browser, services, ['user:read:follows'])
  const session = await readSession(browser, services)
  const [top, followed] = await Promise.all([
    unlessRefused([], async () => (await helix.getStreams({ first: MAX_CHANNELS + 1 })).data),
    session && readFollowed(services, session.user_id, helix),
  ])
  const listed = new Set([except, ...(followed?.live ?? []).map(({ user_id }) => user_id)])
  const room = MAX_CHANNELS - (followed ? followed.live.length + followed.offline.length : 0)
  const live = top.filter(({ user_id }) => !listed.has(user_id)).slice(0, Math.max(room, 0))
  return { followed, live: live.map(toShownStream) }
}

async function readFollowed(
  { store }: ChannelBarServices,
  user_id: string,
  helix: Awaited<ReturnType<typeof apiFor>>['helix'],
): Promise<NonNullable<ChannelBarView['followed']>> {
  const [live, { rows }] = await Promise.all([
    unlessRefused([], async () => (await helix.getFollowedStreams({ user_id, first: MAX_FOLLOWED })).data),
    // So many that those which are live can be left out.
    store.follows.followed({ user_id }, { first: 2 * MAX_FOLLOWED, direction: 'forward' }),
  ])
  const isLive = new Set(live.map(stream => stream.user_id))
  const offline = rows
    .filter(({ broadcaster_id }) => !isLive.has(broadcaster_id))
    .slice(0, MAX_FOLLOWED - live.length)
    .map(({ broadcaster_id, broadcaster_login, broadcaster_name }) => ({
      user_id: broadcaster_id,
      user_login: broadcaster_login,
      user_name: broadcaster_name,
    }))
  return { live: live.map(toShownStream), offline }
}
