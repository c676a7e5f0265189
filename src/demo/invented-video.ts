/**
 * Video for the channels of a demo that no encoder publishes to, and for their videos: clips that are repeated. A channel that
 * a media server receives, and a video that has a recording, are never answered here.
 *
 *     /live/<login>.m3u8                                  multivariant playlist (D-250)
 *     /live/<login>/<stream>-<version>/index.m3u8         media playlist (D-251)
 *     /live/<login>/<stream>-<version>/init-0.mp4         and 17.m4s: segment 17 (D-252)
 *     /videos/<id>.m3u8                                   a video (D-254)
 *     /videos/<id>/<version>/init-0.mp4                   and 3.m4s: loop 3; 3.2.m4s: the first two fragments of it
 */
import { videoSeconds } from '../domain/timeline.ts'
import type { InventedFile, InventedVideo } from '../operations/demo/demo-controls.ts'
import type { Services } from '../operations/implement.ts'
import type { Video } from '../store/queries/videos.ts'
import { type Clip, FRAGMENTS, repeatClip } from './clip.ts'
import {
  type Broadcast,
  completeSegments,
  countFragments,
  livePlaylist,
  multivariantPlaylist,
  videoPlaylist,
} from './clip-playlists.ts'
import { clipForChannel, loadClip } from './clips.ts'

const LIVE_PATH = /^\/live\/([A-Za-z0-9_]{1,25})(?:\.m3u8|\/([0-9]{1,20}-[0-9a-f]{8})\/([a-z0-9.-]{1,30}))$/
const VIDEO_PATH = /^\/videos\/([0-9]{1,19})(?:\.m3u8|\/([0-9a-f]{8})\/([a-z0-9.-]{1,30}))$/
const SEGMENT = /^(0|[1-9][0-9]{0,8})(?:\.([1-9]))?\.m4s$/

const GROWING_SECONDS = 1
const FINISHED_SECONDS = 60
const ENDED_MILLISECONDS = 60_000

/** The moments of a scene that pictures show, in percent of the loop. */
const MOMENTS = [0, 17, 33, 50, 67, 83] as const

interface InventedBroadcast extends Broadcast {
  readonly id: string
  readonly user_id: string
}

type VideoServices = Pick<Services, 'store' | 'clock'>

/** `channels`: those whose viewers are invented. */
export function inventVideo({ store, clock }: VideoServices, channels: ReadonlySet<string>): InventedVideo {
  return {
    find: async path => {
      const [, login, broadcast, file] = LIVE_PATH.exec(path) ?? []
      if (login !== undefined) return findLive(login.toLowerCase(), broadcast, file)
      const [, id, version, segment] = VIDEO_PATH.exec(path) ?? []
      return id === undefined ? undefined : findVideo(id, version, segment)
    },
    hasInventedViewers: async user_id => channels.has(user_id) && (await findRunning(user_id)) !== undefined,
    scene: async (kind, id) => {
      const user_id = kind === 'channels' ? id : (await store.videos.owned(id))?.user_id
      if (user_id === undefined) return undefined
      return `${clipForChannel(user_id)}-${MOMENTS[Bun.hash.crc32(`${kind}/${id}`) % MOMENTS.length]}`
    },
  }

  async function findLive(login: string, name?: string, file?: string): Promise<InventedFile | undefined> {
    const user = await store.users.activeWithLogin(login)
    const broadcast = user && ((await findRunning(user.id)) ?? (await findEnded(user.id)))
    if (broadcast === undefined) return undefined
    const clip = await loadClip(clipForChannel(broadcast.user_id))
    const current = `${broadcast.id}-${clip.version}`
    if (file === undefined)
      return broadcast.isOver
        ? undefined
        : playlist(multivariantPlaylist(clip, `${login}/${current}/index.m3u8`), GROWING_SECONDS)
    if (name !== current) return undefined
    if (file === 'index.m3u8') return playlist(livePlaylist(broadcast), GROWING_SECONDS)
    const complete = completeSegments(broadcast)
    return findSegment(clip, file, (number, part) =>
      part === undefined && number < complete ? repeatClip(clip, number) : undefined,
    )
  }

  async function findRunning(user_id: string): Promise<InventedBroadcast | undefined> {
    const stream = await store.streams.of(user_id)
    if (stream === undefined || (await store.streams.mediaServerOf(stream)) !== undefined) return undefined
    return { ...stream, now: clock.now(), isOver: false }
  }

  /** For a minute after its end, so that players see one. Only the video of a stream has the time of its end. */
  async function findEnded(user_id: string): Promise<InventedBroadcast | undefined> {
    const latest = await store.videos.latestOf(user_id)
    const video = latest && (await store.videos.find(latest.id))
    const ended = Date.parse(video?.ended_at ?? '')
    if (!video?.stream_id || !(clock.now() - ended < ENDED_MILLISECONDS) || (await isReal(video)))
      return undefined
    return { id: video.stream_id, user_id, started_at: video.created_at, now: ended, isOver: true }
  }

  /** Whether a video shows what a media server has received. */
  async function isReal({ id, stream_id, user_id, ended_at }: Video): Promise<boolean> {
    if ((await store.videos.recordingUrl(id)) !== undefined) return true
    // What the user broadcasts now is no matter of earlier videos.
    const stream = { id: stream_id ?? '', user_id: ended_at === null ? user_id : '' }
    return (await store.streams.mediaServerOf(stream)) !== undefined
  }

  async function findVideo(id: string, version?: string, file?: string): Promise<InventedFile | undefined> {
    const video = await store.videos.find(id)
    if (video === undefined || (await isReal(video))) return undefined
    const isLive = video.ended_at === null
    const clip = await loadClip(clipForChannel(video.user_id))
    const seconds = videoSeconds(video, clock.now())
    if (file === undefined) {
      const text = videoPlaylist({ ...video, seconds, isLive, folder: `${id}/${clip.version}` })
      return playlist(text, isLive ? GROWING_SECONDS : FINISHED_SECONDS)
    }
    if (version !== clip.version) return undefined
    const fragments = countFragments(seconds)
    return findSegment(clip, file, (loop, count = FRAGMENTS) => {
      const from = loop * FRAGMENTS
      return from < fragments && count <= FRAGMENTS ? repeatClip(clip, from, count) : undefined
    })
  }
}

const playlist = (text: string, seconds: number): InventedFile => ({
  type: 'application/vnd.apple.mpegurl',
  cacheControl: `max-age=${seconds}`,
  body: text,
})

function findSegment(
  { init }: Clip,
  file: string,
  read: (number: number, part: number | undefined) => Uint8Array<ArrayBuffer> | undefined,
): InventedFile | undefined {
  const [, number, part] = SEGMENT.exec(file) ?? []
  const segment =
    number === undefined ? undefined : read(Number(number), part === undefined ? undefined : Number(part))
  const body = file === 'init-0.mp4' ? init : segment
  return body && { type: 'video/mp4', cacheControl: 'public, max-age=86400, immutable', body }
}
