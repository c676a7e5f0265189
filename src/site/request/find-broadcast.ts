import type { LiveStream } from '../../store/feed.ts'
import type { Store } from '../../store/store.ts'
import type { Broadcast } from '../player/broadcast.ts'

type StreamOwner = Pick<LiveStream, 'id' | 'user_id' | 'user_login'>

/** Where the video of a live stream is, also while its publisher reconnects. Undefined: this site has no player for it. */
export async function findBroadcast(store: Store, stream: StreamOwner): Promise<Broadcast | undefined> {
  const server = await store.streams.mediaServerOf(stream)
  if (server === undefined) return undefined
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

/** A broadcast of an embedded media server whose publisher is connected. `node`: the address of the one that has it. */
export const embeddedBroadcast = (login: string, node: string | null): Broadcast => ({
  source: `/live/${login}.m3u8`,
  isOnAir: true,
  recording: null,
  origin: node === null ? null : toOrigin(node),
})

/** Null for a path of this host. */
const toOrigin = (url: string): string | null => URL.parse(url)?.origin ?? null
