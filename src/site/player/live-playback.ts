/** A live broadcast: stays close to what is live, and connects again when the connection is lost. */
import mpegts from 'mpegts.js'
import { waitBefore } from './backoff.ts'
import type { ChannelState } from './channel-state.ts'
import type { Playback } from './controls.ts'
import { rangesOf, startBehindGap } from './gaps.ts'
import type { PlayerView } from './player-view.ts'

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

const WATCH_MILLISECONDS = 100
/** Playback starts, also after a stall, when so much is buffered: what follows then arrives in time. */
const START_SECONDS = 1
/** A picture that stood still for so long counts as a lost connection. */
const STALLED_MILLISECONDS = 8000
/** The value of `readyState` from which on a video moves. */
const HAVE_FUTURE_DATA = 3

export class LivePlayback implements Playback {
  readonly #view: PlayerView
  readonly #source: string
  readonly #channelState: () => Promise<ChannelState>
  #engine: mpegts.Player | undefined
  #isWanted = false
  #attempt = 0
  #retry: ReturnType<typeof setTimeout> | undefined
  #lastTime = 0
  #movedAt = 0

  constructor(view: PlayerView, source: string, channelState: () => Promise<ChannelState>) {
    this.#view = view
    this.#source = source
    this.#channelState = channelState
    setInterval(() => this.#watch(), WATCH_MILLISECONDS)
  }

  async play(): Promise<void> {
    this.#isWanted = true
    this.#attempt = 0
    this.#connect()
  }

  /** Live video cannot wait: a pause disconnects, and play continues with what is live then. */
  pause(): void {
    this.#isWanted = false
    this.#disconnect()
    this.#view.show('idle')
  }

  #connect(): void {
    this.#disconnect()
    if (!mpegts.isSupported()) {
      this.#view.show('ended', 'This browser cannot play live video.')
      return
    }
    const engine = mpegts.createPlayer({ type: 'flv', isLive: true, url: this.#source }, CONFIG)
    this.#engine = engine
    const lost = () => {
      if (this.#engine === engine) void this.#recover()
    }
    engine.on(mpegts.Events.LOADING_COMPLETE, lost)
    engine.on(mpegts.Events.ERROR, lost)
    this.#movedAt = performance.now()
    this.#lastTime = 0
    if (this.#attempt === 0) this.#view.show('loading')
    this.#view.video.preload = 'auto'
    engine.attachMediaElement(this.#view.video)
    engine.load()
  }

  async #start(engine: mpegts.Player): Promise<void> {
    if ((await this.#view.play()) === 'blocked' && this.#engine === engine) this.pause()
  }

  #disconnect(): void {
    clearTimeout(this.#retry)
    this.#engine?.destroy()
    this.#engine = undefined
  }

  /** Waits and connects again, unless the channel is no longer live. */
  async #recover(): Promise<void> {
    this.#disconnect()
    this.#view.show('loading', 'Reconnecting…')
    const state = await this.#channelState()
    if (!this.#isWanted || this.#engine !== undefined) return
    if (state === 'offline') {
      this.#isWanted = false
      this.#view.show('ended', 'This broadcast has ended.')
      return
    }
    const waits = state === 'live' ? 'Waiting for the broadcaster…' : 'Connection lost. Reconnecting…'
    if (this.#attempt > 0) this.#view.show('loading', waits)
    this.#retry = setTimeout(() => this.#connect(), waitBefore(this.#attempt, Math.random()))
    this.#attempt += 1
  }

  #watch(): void {
    const { video } = this.#view
    if (this.#engine === undefined) return
    const ahead = (rangesOf(video.buffered).at(-1)?.end ?? 0) - video.currentTime
    if (video.paused && ahead >= START_SECONDS) void this.#start(this.#engine)
    if (!video.paused && video.readyState < HAVE_FUTURE_DATA) video.pause()
    const now = performance.now()
    if (video.currentTime !== this.#lastTime) {
      this.#lastTime = video.currentTime
      this.#movedAt = now
      this.#attempt = 0
      if (this.#view.state !== 'playing') this.#view.show('playing')
      return
    }
    const behind = startBehindGap(rangesOf(video.buffered), video.currentTime)
    if (behind !== undefined) video.currentTime = behind + 0.05
    else if (now - this.#movedAt > STALLED_MILLISECONDS) void this.#recover()
  }
}
