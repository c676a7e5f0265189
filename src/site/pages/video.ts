/** The page that the URLs of videos and markers lead to (D-99). Everyone may see it, with the markers of what plays. */
import { parsePosition, videoSeconds } from '../../domain/timeline.ts'
import type { Video } from '../../store/queries/videos.ts'
import type { PlayerMarker } from '../islands/player.tsx'
import { problemPage } from '../render/problem-page.tsx'
import { type ChannelBarServices, readChannelBar } from '../request/channel-bar.ts'
import { findBroadcast } from '../request/find-broadcast.ts'
import type { PageHandler, PageServices } from '../request/session.ts'
import { latestVideos } from './latest-videos.ts'
import { type PlayableVideo, recordedVideoPage, videoPage } from './video-view.tsx'

const OTHERS = 8

/** More would cover the timeline; the studio has all of them. */
const MARKERS = 100

type PlayableServices = Pick<PageServices, 'store' | 'demo'>
type VideoServices = ChannelBarServices & PlayableServices & Pick<PageServices, 'mediaUrl'>

export const showVideo: PageHandler = async (browser, services: VideoServices) => {
  const { store, clock, mediaUrl } = services
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
    link: `${services.publicUrl}/videos/${video.id}`,
    bar: await readChannelBar(browser, services, { except: video.user_id }),
    now: clock.now(),
  }
  const playable = await findPlayable(video, services)
  if (playable === undefined || 'file' in playable) return videoPage(view, playable?.file)
  const others = { user_id: video.user_id, count: OTHERS, except: video.id, now: clock.now() }
  const [latest, markers] = await Promise.all([latestVideos(store, others), readMarkers(video.id, store)])
  return recordedVideoPage({ ...view, others: latest, markers, playable, mediaUrl })
}

/** What browsers play by themselves, of the files that other media servers record. */
const PLAYS_AS_FILE = /\.(?:mp4|m4v|mov|webm|m3u8)$/i
/** Files that no browser plays. */
const IS_FILE = /\.(?:flv|mkv|ts)$/i

/** The recording of a video: as its page plays it, or a file to save. That of a broadcast which runs grows (D-254). */
export async function findPlayable(
  { id, user_id, ended_at }: Pick<Video, 'id' | 'user_id' | 'ended_at'>,
  services: PlayableServices,
): Promise<PlayableVideo | { readonly file: string } | undefined> {
  const { store, demo } = services
  if (ended_at === null) {
    const stream = await store.streams.of(user_id)
    const broadcast = stream && (await findBroadcast(services, stream))
    return broadcast?.recording === `/videos/${id}.m3u8` ? { broadcast } : undefined
  }
  const url = await store.videos.recordingUrl(id)
  const files = await store.recordingFiles.of(id)
  // What several nodes have received, only the playlist has whole (D-261).
  if (files.length > 1) return { recording: `/videos/${id}.m3u8`, origins: files.map(file => file.url) }
  if (url === undefined) return demo?.video && { recording: `/videos/${id}.m3u8`, origins: [] }
  const path = URL.parse(url)?.pathname ?? ''
  if (IS_FILE.test(path)) return { file: url }
  return { recording: PLAYS_AS_FILE.test(path) ? url : `/videos/${id}.mp4`, origins: [url] }
}

/** The markers of a video, in the order of their positions. */
async function readMarkers(video_id: string, store: VideoServices['store']): Promise<PlayerMarker[]> {
  const { rows } = await store.markers.ofVideo(video_id, { first: MARKERS, direction: 'forward' })
  return rows.map(({ id, position_seconds, description }) => ({ id, seconds: position_seconds, description }))
}
