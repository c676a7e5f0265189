import type { InventedVideo } from '../../operations/demo/demo-controls.ts'
import type { LiveStream } from '../../store/feed.ts'
import type { Broadcast } from '../player/broadcast.ts'
import type { PageServices } from './session.ts'

type StreamOwner = Pick<LiveStream, 'id' | 'user_id' | 'user_login'>

/** Where the video of a live stream is, also while its publisher reconnects. Undefined: this site has no player for it. */
export async function findBroadcast(
  { store, demo }: Pick<PageServices, 'store' | 'demo'>,
  stream: StreamOwner,
): Promise<Broadcast | undefined> {
  const server = await store.streams.mediaServerOf(stream)
  if (server === undefined) return demo?.video && findInvented(store, demo.video, stream)
  const isOnAir = server.ended_at === null
  if (server.adapter !== 'embedded') {
    const source = server.playback_url?.replace('{login}', stream.user_login)
    return source === undefined ? undefined : { source, isOnAir, recording: null, origin: toOrigin(source) }
  }
  const video_id = await store.videos.recordedNow(stream.user_id)
  return {
    ...embeddedBroadcast(stream.user_login, server.watch_url),
    isOnAir,
    recording: video_id === undefined ? null : `/videos/${video_id}.m3u8`,
  }
}

/** A demo shows a clip where no encoder publishes. */
async function findInvented(
  store: PageServices['store'],
  invented: InventedVideo,
  stream: StreamOwner,
): Promise<Broadcast> {
  const latest = await store.videos.latestOf(stream.user_id)
  const video = latest && (await store.videos.find(latest.id))
  return {
    ...embeddedBroadcast(stream.user_login, null),
    recording: video?.stream_id === stream.id ? `/videos/${video.id}.m3u8` : null,
    ...((await invented.hasInventedViewers(stream.user_id)) && { hasInventedViewers: true }),
  }
}

/** A broadcast of an embedded media server whose publisher is connected. `node`: the address of the one that has it. */
export const embeddedBroadcast = (login: string, node: string | null): Broadcast => ({
  source: `/live/${login}.m3u8`,
  isOnAir: true,
  recording: null,
  origin: node === null ? null : toOrigin(node),
})

/** Null for a path of this host. */
const toOrigin = (url: string): string | null => URL.parse(url)?.origin ?? null
