/** The page that the URLs of videos and markers lead to (D-99). Everyone may see it, so it shows no markers. */
import { parsePosition, videoSeconds } from '../domain/timeline.ts'
import { latestVideos } from './latest-videos.ts'
import type { PageHandler, PageServices } from './session.ts'
import { problemPage } from './views/problem.tsx'
import { recordedVideoPage, videoPage } from './views/video.tsx'

const OTHERS = 8

export const showVideo: PageHandler = async (
  browser,
  { store, clock }: Pick<PageServices, 'store' | 'clock'>,
) => {
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
  return recordedVideoPage({ ...view, others: await latestVideos(store, others) }, node)
}
