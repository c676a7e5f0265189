/** The page of a channel, at `/<login>` (D-127). */
import { raise } from '../../contract/problem.ts'
import { parseProfileLink } from '../../domain/profile-link.ts'
import { isReservedName } from '../../domain/reserved-names.ts'
import type { Following } from '../components/follow.tsx'
import { toShownStream } from '../components/stream-card.tsx'
import { problemPage } from '../render/problem-page.tsx'
import { apiFor } from '../request/api-for.ts'
import type { Browser } from '../request/browser.ts'
import { readChannelBar } from '../request/channel-bar.ts'
import { findBroadcast } from '../request/find-broadcast.ts'
import { type PageHandler, type PageServices, readSession, type SessionServices } from '../request/session.ts'
import { type ChannelDropsView, channelPage } from './channel-view.tsx'
import { latestVideos } from './latest-videos.ts'
import { findPlayable } from './video.ts'

const PATH = /^\/([a-zA-Z0-9_]{1,25})$/
/** One is shown large while the channel is offline; the others fill rows of two, three and four. */
const VIDEOS = 13
/** Campaigns that are shown on a channel. */
const MAX_CAMPAIGNS = 5

type ChannelServices = SessionServices &
  Pick<
    PageServices,
    'store' | 'clock' | 'mediaUrl' | 'demo' | 'campaigns' | 'siteTokens' | 'callApi' | 'publicUrl'
  >

/** The login in the path of a page, unless the server uses the path for something else. */
export function parseChannelPath(path: string): string | undefined {
  const login = PATH.exec(path)?.[1]?.toLowerCase()
  return login === undefined || isReservedName(login) ? undefined : login
}

export const showChannel: PageHandler = async (browser, services: ChannelServices) => {
  const { store, clock, mediaUrl } = services
  const user = await store.users.activeWithLogin(parseChannelPath(browser.path) ?? '')
  // Programs that follow a wrong path get the error of the API.
  if (user === undefined && !browser.prefersHtml) return raise('route_unknown')
  if (user === undefined)
    return problemPage(
      404,
      'Channel not found',
      'There is no channel with this name. It may have been renamed.',
    )
  const now = clock.now()
  const { id, login, display_name, description, links } = user
  const [stream, following, videos, bar] = await Promise.all([
    store.streams.of(id),
    readFollowing(browser, services, user),
    latestVideos(store, { user_id: id, count: VIDEOS, now }),
    readChannelBar(browser, services, { except: id }),
  ])
  const broadcast = stream && (await findBroadcast(services, stream))
  const recordingPage = broadcast?.recording?.replace(/\.m3u8$/, '')
  const playable = !stream && videos[0] ? await findPlayable(videos[0], services) : undefined
  return channelPage({
    channel: { id, login, display_name },
    description,
    links: links.map(parseProfileLink),
    live: stream && toShownStream(stream),
    broadcast,
    drops: stream && (await readChannelDrops(browser, services, stream, broadcast !== undefined)),
    mediaUrl,
    following,
    videos: stream ? videos.slice(0, VIDEOS - 1) : videos,
    isLastPlayable: playable !== undefined && !('file' in playable),
    link: `${services.publicUrl}/${login}`,
    moment:
      stream && recordingPage
        ? {
            link: services.publicUrl + recordingPage,
            position: Math.max(0, Math.floor((now - Date.parse(stream.started_at)) / 1000)),
          }
        : undefined,
    bar,
    now,
  })
}

/** The active campaigns that concern a live channel, with the progress of the viewer; undefined if there are none. */
async function readChannelDrops(
  browser: Browser,
  services: ChannelServices,
  { user_id, game_id }: { readonly user_id: string; readonly game_id: string },
  plays: boolean,
): Promise<ChannelDropsView | undefined> {
  const { campaigns, clock } = services
  const now = clock.now()
  const concerning = campaigns.concerning(user_id, game_id, now).slice(0, MAX_CAMPAIGNS)
  if (concerning.length === 0) return undefined
  const session = await readSession(browser, services)
  const { drops } = await apiFor(browser, services, ['user:read:drops'])
  const counting = campaigns.countingOn(user_id, game_id, now).map(({ campaign }) => campaign.id)
  // Where some count, the others are of no use here.
  const ids = counting.length > 0 ? counting : concerning.map(({ campaign }) => campaign.id)
  const pages = await Promise.all(ids.map(campaign_id => drops.getDropsCampaign({ campaign_id })))
  const isOfGame = concerning.some(({ campaign }) => campaign.game_id === game_id)
  const reason =
    counting.length === 0
      ? isOfGame
        ? 'channel_not_listed'
        : 'not_playing_the_game'
      : session?.user_id === user_id
        ? 'own_channel'
        : plays
          ? undefined
          : 'plays_elsewhere'
  return {
    campaigns: pages.flatMap(({ data }) => data),
    ...(reason && { reason }),
    ...(session && { csrf: browser.csrfToken() }),
  }
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
