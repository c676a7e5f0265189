/** HLS playlists for clips that are repeated. All of them follow from the clock. */
import { isoMillis } from '../kit/time/clock.ts'
import { CLIP_FORMAT, type Clip, FRAGMENT_SECONDS, FRAGMENTS, LOOP_SECONDS } from './clip.ts'

/** Live playlists have so many segments, of a fragment each. */
const WINDOW = 6

/** When a broadcast started, and what time it is for it: `now`, or its end. */
export interface Broadcast {
  readonly started_at: string
  readonly now: number
  readonly isOver: boolean
}

export function multivariantPlaylist({ bandwidth, averageBandwidth }: Clip, mediaPlaylist: string): string {
  const { codecs, resolution, frameRate } = CLIP_FORMAT
  return lines(
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    `#EXT-X-STREAM-INF:BANDWIDTH=${bandwidth},AVERAGE-BANDWIDTH=${averageBandwidth},CODECS="${codecs}",RESOLUTION=${resolution},FRAME-RATE=${frameRate}`,
    mediaPlaylist,
  )
}

/**
 * How many segments of a broadcast are complete. It has a whole window when it starts, as if it had begun a loop earlier:
 * the first viewer need not wait.
 */
export function completeSegments({ started_at, now }: Broadcast): number {
  const seconds = Math.max(0, now - Date.parse(started_at)) / 1000
  return FRAGMENTS + Math.floor(seconds / FRAGMENT_SECONDS)
}

/** The last segments of a broadcast (D-251). */
export function livePlaylist(broadcast: Broadcast): string {
  const complete = completeSegments(broadcast)
  const first = complete - WINDOW
  const began = Date.parse(broadcast.started_at) - LOOP_SECONDS * 1000
  const segments = Array.from({ length: WINDOW }, (_, index) => first + index).flatMap(number => [
    `#EXT-X-PROGRAM-DATE-TIME:${isoMillis(began + number * FRAGMENT_SECONDS * 1000)}`,
    `#EXTINF:${FRAGMENT_SECONDS.toFixed(3)},`,
    `${number}.m4s`,
  ])
  const end = broadcast.isOver ? ['#EXT-X-ENDLIST'] : []
  return lines(...mediaHead(FRAGMENT_SECONDS, first, 'init-0.mp4'), ...segments, ...end)
}

/** The length of a video in fragments. The last one may be longer than the video. */
export function countFragments(seconds: number): number {
  return Math.max(1, Math.ceil(seconds / FRAGMENT_SECONDS))
}

/**
 * A video, with an entry for each loop, so that a long one has few (D-254). While its broadcast runs it has whole loops only,
 * because entries must not change; the last of them may reach a few seconds ahead, so that every marker can be opened.
 */
export function videoPlaylist(video: {
  readonly created_at: string
  readonly seconds: number
  readonly isLive: boolean
  /** Where segments are, relative to the playlist. */
  readonly folder: string
}): string {
  const { created_at, seconds, isLive, folder } = video
  const fragments = countFragments(seconds)
  const loops = Math.floor(fragments / FRAGMENTS)
  const rest = fragments % FRAGMENTS
  const whole = isLive && rest > 0 ? loops + 1 : loops
  const entries = Array.from(
    { length: whole },
    (_, loop) => `#EXTINF:${LOOP_SECONDS.toFixed(3)},\n${folder}/${loop}.m4s`,
  )
  if (rest > 0 && !isLive)
    entries.push(`#EXTINF:${(rest * FRAGMENT_SECONDS).toFixed(3)},\n${folder}/${loops}.${rest}.m4s`)
  return lines(
    ...mediaHead(LOOP_SECONDS, 0, `${folder}/init-0.mp4`),
    `#EXT-X-PLAYLIST-TYPE:${isLive ? 'EVENT' : 'VOD'}`,
    `#EXT-X-PROGRAM-DATE-TIME:${isoMillis(Date.parse(created_at))}`,
    ...entries,
    ...(isLive ? [] : ['#EXT-X-ENDLIST']),
  )
}

const mediaHead = (targetSeconds: number, sequence: number, init: string): string[] => [
  '#EXTM3U',
  '#EXT-X-VERSION:7',
  `#EXT-X-TARGETDURATION:${targetSeconds}`,
  `#EXT-X-MEDIA-SEQUENCE:${sequence}`,
  '#EXT-X-INDEPENDENT-SEGMENTS',
  `#EXT-X-MAP:URI="${init}"`,
]

const lines = (...texts: readonly string[]): string => `${texts.join('\n')}\n`
