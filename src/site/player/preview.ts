/** A muted preview of a live broadcast, without controls. Loaded on demand, with the library that plays. */
import type { Broadcast } from './broadcast.ts'
import { LiveConnection } from './live-connection.ts'

/** Plays until it is stopped, and connects again when the publisher returns. Returns what stops it. */
export function startPreview(video: HTMLVideoElement, user_id: string, broadcast: Broadcast): () => void {
  const connection = new LiveConnection(video, {
    user_id,
    broadcast,
    // Muted video may start without a click; where it may not, the picture of the channel stays.
    play: () =>
      video.play().then(
        () => 'playing',
        () => 'interrupted',
      ),
    changed: () => {},
  })
  connection.start()
  return () => connection.stop()
}
