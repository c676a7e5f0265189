/** The page of a channel, at `/<login>` (D-127). */
import { raise } from '../../contract/problem.ts'
import { isReservedName } from '../../domain/reserved-names.ts'
import type { Following } from '../components/follow.tsx'
import { toShownStream } from '../components/stream-card.tsx'
import { problemPage } from '../render/problem-page.tsx'
import type { Browser } from '../request/browser.ts'
import { findBroadcast } from '../request/find-broadcast.ts'
import { type PageHandler, type PageServices, readSession, type SessionServices } from '../request/session.ts'
import { channelPage } from './channel-view.tsx'
import { latestVideos } from './latest-videos.ts'

const PATH = /^\/([a-zA-Z0-9_]{1,25})$/
const VIDEOS = 12

type ChannelServices = SessionServices & Pick<PageServices, 'store' | 'clock' | 'mediaUrl' | 'demo'>

/** The login in the path of a page, unless the server uses the path for something else. */
export function parseChannelPath(path: string): string | undefined {
  const login = PATH.exec(path)?.[1]?.toLowerCase()
  return login === undefined || isReservedName(login) ? undefined : login
}

export const showChannel: PageHandler = async (browser, services: ChannelServices) => {
  const { store, clock, mediaUrl } = services
  const user = await store.users.withLogin(parseChannelPath(browser.path) ?? '')
  // Programs that follow a wrong path get the error of the API.
  if (user === undefined && !browser.prefersHtml) return raise('route_unknown')
  if (user === undefined)
    return problemPage(
      404,
      'Channel not found',
      'There is no channel with this name. It may have been renamed.',
    )
  const now = clock.now()
  const { id, login, display_name, description } = user
  const [stream, following, videos] = await Promise.all([
    store.streams.of(id),
    readFollowing(browser, services, user),
    latestVideos(store, { user_id: id, count: VIDEOS, now }),
  ])
  return channelPage({
    channel: { id, login, display_name },
    description,
    live: stream && toShownStream(stream),
    broadcast: stream && (await findBroadcast(services, stream)),
    mediaUrl,
    following,
    videos,
    now,
  })
}

/** A visitor gets no cookie for a form that is not shown to them. */
async function readFollowing(
  browser: Browser,
  services: ChannelServices,
  { id, login }: { readonly id: string; readonly login: string },
): Promise<Following> {
  const { store } = services
  const session = await readSession(browser, services)
  const followers = await store.follows.countFollowers(id)
  if (session === undefined) return { login, followers, isFollowing: false, isOwn: false }
  const pair = { user_id: session.user_id, broadcaster_id: id }
  const { rows } = await store.follows.followed(pair, { first: 1, direction: 'forward' })
  const isOwn = session.user_id === id
  return { login, followers, isFollowing: rows.length > 0, isOwn, csrf: browser.csrfToken() }
}
