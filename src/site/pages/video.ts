/** The page that the URLs of videos and markers lead to (D-99). Everyone may see it; markers are for those who may list them. */
import { parsePosition, videoSeconds } from '../../domain/timeline.ts'
import type { PlayerMarker } from '../islands/player.tsx'
import { problemPage } from '../render/problem-page.tsx'
import { apiFor } from '../request/api-for.ts'
import type { Browser } from '../request/browser.ts'
import { type PageHandler, type PageServices, readSession, type SessionServices } from '../request/session.ts'
import { unlessRefused } from '../scripts/refused.ts'
import { latestVideos } from './latest-videos.ts'
import { recordedVideoPage, videoPage } from './video-view.tsx'

const OTHERS = 8

/** As many as the API returns at once; the studio has all of them. */
const MARKERS = 100

type VideoServices = SessionServices & Pick<PageServices, 'siteTokens' | 'callApi' | 'publicUrl'>

export const showVideo: PageHandler = async (browser, services: VideoServices) => {
  const { store, clock } = services
  const id = /^\/videos\/([0-9]{1,19})$/.exec(browser.path)?.[1]
  const video = id === undefined ? undefined : await store.videos.find(id)
  if (video === undefined)
    return problemPage(404, 'Video not found', 'There is no video at this address. It may have been deleted.')
  const { game_id, ended_at, ...shown } = video
  const view = {
    ...shown,
    game: (await store.games.find(game_id))?.name,
    isLive: ended_at === null,
    seconds: videoSeconds(video, clock.now()),
    // A position that cannot be read is ignored: the link still leads to its video.
    position: parsePosition(browser.parameter('t') ?? ''),
  }
  const node = view.isLive ? undefined : await store.videos.recordingUrl(video.id)
  if (node === undefined) return videoPage(view)
  const others = { user_id: video.user_id, count: OTHERS, except: video.id, now: clock.now() }
  const [latest, markers] = await Promise.all([
    latestVideos(store, others),
    readMarkers(video.id, browser, services),
  ])
  return recordedVideoPage({ ...view, others: latest, markers }, node)
}

/** The markers of a video, in the order of their positions; none for those who are neither its owner nor an editor. */
async function readMarkers(
  video_id: string,
  browser: Browser,
  services: VideoServices,
): Promise<PlayerMarker[]> {
  if ((await readSession(browser, services)) === undefined) return []
  const { helix } = await apiFor(browser, services, ['user:read:broadcast'])
  const { data } = await unlessRefused({ data: [] }, () =>
    helix.getStreamMarkers({ video_id, first: MARKERS }),
  )
  return data
    .flatMap(({ videos }) => videos.flatMap(({ markers }) => markers))
    .map(({ id, position_seconds, description }) => ({ id, seconds: position_seconds, description }))
    .sort((one, other) => one.seconds - other.seconds)
}
