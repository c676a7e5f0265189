/** A muted preview of a live broadcast, for the person who sends it. Loaded on demand, with the library that plays. */
import mpegts from 'mpegts.js'

mpegts.LoggingControl.enableAll = false

const CONFIG: mpegts.Config = {
  liveSync: true,
  liveSyncMaxLatency: 3,
  liveSyncTargetLatency: 1.5,
  enableStashBuffer: false,
  lazyLoad: false,
  autoCleanupSourceBuffer: true,
  autoCleanupMaxBackwardDuration: 30,
  autoCleanupMinBackwardDuration: 10,
}
const RETRY_MILLISECONDS = 3000

/** Plays until it is stopped, and connects again when the connection is lost. Returns what stops it. */
export function startPreview(video: HTMLVideoElement, source: string): () => void {
  let engine: mpegts.Player | undefined
  let timer: ReturnType<typeof setTimeout>
  const stop = () => {
    clearTimeout(timer)
    engine?.destroy()
    engine = undefined
  }
  const connect = () => {
    stop()
    if (!mpegts.isSupported()) return
    const player = mpegts.createPlayer({ type: 'flv', isLive: true, url: source }, CONFIG)
    engine = player
    const lost = () => {
      if (engine !== player) return
      stop()
      timer = setTimeout(connect, RETRY_MILLISECONDS)
    }
    player.on(mpegts.Events.LOADING_COMPLETE, lost)
    player.on(mpegts.Events.ERROR, lost)
    player.attachMediaElement(video)
    player.load()
    // Muted video may start without a click; where it may not, the picture of the channel stays.
    void Promise.resolve(player.play()).catch(() => undefined)
  }
  connect()
  return stop
}
