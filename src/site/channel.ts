/** The page of a channel, at `/<login>` (D-127). */
import { raise } from '../contract/problem.ts'
import { isReservedName } from '../domain/reserved-names.ts'
import { videoSeconds } from '../domain/timeline.ts'
import type { LiveStream } from '../store/feed.ts'
import { latestVideos } from './latest-videos.ts'
import type { PageHandler, PageServices } from './session.ts'
import { channelPage } from './views/channel.tsx'
import { problemPage } from './views/problem.tsx'

const PATH = /^\/([a-zA-Z0-9_]{1,25})$/
const VIDEOS = 12

/** The login in the path of a page, unless the server uses the path for something else. */
export function channelOf(path: string): string | undefined {
  const login = PATH.exec(path)?.[1]?.toLowerCase()
  return login === undefined || isReservedName(login) ? undefined : login
}

export const showChannel: PageHandler = async (
  browser,
  { store, clock }: Pick<PageServices, 'store' | 'clock'>,
) => {
  const user = await store.users.withLogin(channelOf(browser.path) ?? '')
  // Programs that follow a wrong path get the error of the API.
  if (user === undefined && !browser.prefersHtml) return raise('route_unknown')
  if (user === undefined)
    return problemPage(
      404,
      'Channel not found',
      'There is no channel with this name. It may have been renamed.',
    )
  const now = clock.now()
  const stream = await store.streams.of(user.id)
  return channelPage({
    ...user,
    live: stream && {
      ...stream,
      seconds: videoSeconds({ created_at: stream.started_at, ended_at: null }, now),
      node: await nodeOf(stream, store),
    },
    videos: await latestVideos(store, { user_id: user.id, count: VIDEOS, now }),
  })
}

/** Undefined: this page has no player for it. */
async function nodeOf(stream: LiveStream, store: PageServices['store']): Promise<string | null | undefined> {
  const server = await store.streams.mediaServerOf(stream)
  return server?.adapter === 'embedded' ? server.watch_url : undefined
}
