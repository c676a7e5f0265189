/** A muted preview of a live broadcast, for the person who sends it. Loaded on demand, with the library that plays. */
import { flvSource } from './flv-source.ts'
import type { LiveEngine } from './live-playback.ts'

const RETRY_MILLISECONDS = 3000

/** Plays until it is stopped, and connects again when the connection is lost. Returns what stops it. */
export function startPreview(video: HTMLVideoElement, url: string): () => void {
  const source = flvSource(url)
  let engine: LiveEngine | undefined
  let timer: ReturnType<typeof setTimeout>
  const stop = () => {
    clearTimeout(timer)
    engine?.destroy()
    engine = undefined
  }
  const connect = () => {
    stop()
    const opened = source.open(video, 0, () => {
      if (engine !== opened) return
      stop()
      timer = setTimeout(connect, RETRY_MILLISECONDS)
    })
    engine = opened
    // Muted video may start without a click; where it may not, the picture of the channel stays.
    if (opened !== undefined) void video.play().catch(() => undefined)
  }
  connect()
  return stop
}
