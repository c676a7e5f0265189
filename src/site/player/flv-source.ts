/** A broadcast of the embedded media server. */
import mpegts from 'mpegts.js'
import type { LiveSource } from './live-playback.ts'

/** Behind by more than 2 s it plays a little faster until it is 1 s behind; behind by more than 8 s it jumps. */
const CONFIG: mpegts.Config = {
  liveSync: true,
  liveSyncMaxLatency: 2,
  liveSyncTargetLatency: 1,
  liveSyncPlaybackRate: 1.1,
  liveBufferLatencyChasing: true,
  liveBufferLatencyMaxLatency: 8,
  liveBufferLatencyMinRemain: 1,
  enableStashBuffer: false,
  lazyLoad: false,
  autoCleanupSourceBuffer: true,
  autoCleanupMaxBackwardDuration: 30,
  autoCleanupMinBackwardDuration: 10,
}

// A lost connection is shown to the viewer; it is no error of the page.
mpegts.LoggingControl.enableAll = false

export const flvSource = (url: string): LiveSource => ({
  stalledMilliseconds: 8000,
  open(video, _attempt, lost) {
    if (!mpegts.isSupported()) return undefined
    const engine = mpegts.createPlayer({ type: 'flv', isLive: true, url }, CONFIG)
    engine.on(mpegts.Events.LOADING_COMPLETE, lost)
    engine.on(mpegts.Events.ERROR, lost)
    engine.attachMediaElement(video)
    engine.load()
    return engine
  },
})
