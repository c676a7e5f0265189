/** A live broadcast: starts when enough is buffered, and connects again when the connection is lost. */
import { waitBefore } from './backoff.ts'
import type { Playback } from './controls.ts'
import { bufferedRanges, startBehindGap } from './gaps.ts'
import type { PlayerView } from './player-view.ts'

/** Loads a broadcast into a video element, until it is destroyed. */
export interface LiveEngine {
  destroy(): void
  /** The browser loads by itself: it decides when playback starts. */
  readonly isNative?: boolean
}

/** How a broadcast is loaded. */
export interface LiveSource {
  /**
   * `attempt`: 0 for what the viewer asked for, then counted until the video moves. Calls `lost` if nothing more will come.
   * Returns undefined if this browser cannot play it.
   */
  open(video: HTMLVideoElement, attempt: number, lost: () => void): LiveEngine | undefined
  /** A picture that stood still for so long counts as a lost connection. */
  readonly stalledMilliseconds: number
}

type ChannelState = 'live' | 'offline' | 'unknown'

const WATCH_MILLISECONDS = 100
/** Playback starts, also after a stall, when so much is buffered: what follows then arrives in time. */
const START_SECONDS = 1
/** The value of `readyState` from which on a video moves. */
const HAVE_FUTURE_DATA = 3

export class LivePlayback implements Playback {
  readonly #view: PlayerView
  readonly #source: LiveSource
  readonly #channelState: () => Promise<ChannelState>
  #engine: LiveEngine | undefined
  #isWanted = false
  #attempt = 0
  #retry: ReturnType<typeof setTimeout> | undefined
  #lastTime = 0
  #movedAt = 0

  constructor(view: PlayerView, source: LiveSource, channelState: () => Promise<ChannelState>) {
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
    const { video } = this.#view
    video.preload = 'auto'
    const engine = this.#source.open(video, this.#attempt, () => {
      if (this.#engine !== undefined && this.#engine === engine) void this.#recover()
    })
    if (engine === undefined) {
      this.#view.show('ended', 'This browser cannot play live video.')
      return
    }
    this.#engine = engine
    this.#movedAt = performance.now()
    this.#lastTime = 0
    if (this.#attempt === 0) this.#view.show('loading')
    if (engine.isNative) void this.#start(engine)
  }

  async #start(engine: LiveEngine): Promise<void> {
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
    if (!this.#engine.isNative) this.#waitForBuffer(this.#engine)
    const now = performance.now()
    if (video.currentTime !== this.#lastTime) {
      this.#lastTime = video.currentTime
      this.#movedAt = now
      this.#attempt = 0
      if (this.#view.state !== 'playing') this.#view.show('playing')
      return
    }
    const behind = startBehindGap(bufferedRanges(video.buffered), video.currentTime)
    if (behind !== undefined) video.currentTime = behind + 0.05
    else if (now - this.#movedAt > this.#source.stalledMilliseconds) void this.#recover()
  }

  #waitForBuffer(engine: LiveEngine): void {
    const { video } = this.#view
    const ahead = (bufferedRanges(video.buffered).at(-1)?.end ?? 0) - video.currentTime
    if (video.paused && ahead >= START_SECONDS) void this.#start(engine)
    if (!video.paused && video.readyState < HAVE_FUTURE_DATA) video.pause()
  }
}
