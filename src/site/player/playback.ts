/**
 * Plays a broadcast, a recording, or both: a broadcast that is recorded can be rewound to its start. One of two things is in
 * the video element:
 *
 * | Mode | What is loaded | Position |
 * |---|---|---|
 * | `live` | the playlist of the broadcast, by `LiveConnection` | the end of the timeline |
 * | `recorded` | the file of a closed recording, or its playlist, which grows while the broadcast runs | that of the video |
 *
 *     live --(seek back, or a pause)--> recorded --(the Live button, or a seek to the end)--> live
 *
 * Positions are seconds since the start of the broadcast, in both modes.
 */
import type { Broadcast } from './broadcast.ts'
import { type Engine, openFile, openPlaylist } from './engine.ts'
import { LiveConnection, type LiveState } from './live-connection.ts'
import type { PlayerState, PlayerView } from './player-view.ts'
import { Timeline } from './timeline.ts'

export interface PlaybackOptions {
  /** The user whose broadcast it is. */
  readonly user_id: string
  /** The broadcast, while it runs. */
  readonly broadcast?: Broadcast | undefined
  /** The file or the playlist of a closed recording. */
  readonly recording?: string | undefined
  /** How long the recording is, or the broadcast was when the page was rendered. */
  readonly seconds: number
  /** When the broadcast began, in milliseconds since 1970. */
  readonly startedAt: number
  /** Where to begin; undefined: live. */
  readonly start?: number | undefined
}

type Mode = 'live' | 'recorded'

const TICK_MILLISECONDS = 250
/** How often a broadcast that has just begun is asked for its recording. */
const NEW_MILLISECONDS = 10_000
/** The last seconds of a broadcast are not in its recording yet: what is closer to the end is live. */
const LIVE_SECONDS = 15

const MESSAGES: Readonly<Record<LiveState, readonly [PlayerState, string]>> = {
  connecting: ['loading', ''],
  waiting: ['loading', 'Waiting for the broadcaster…'],
  reconnecting: ['loading', 'Connection lost. Reconnecting…'],
  ended: ['ended', 'This broadcast has ended.'],
  unsupported: ['ended', 'This browser cannot play this video.'],
  blocked: ['idle', ''],
  moved: ['loading', ''],
}

export class Playback {
  readonly #view: PlayerView
  readonly #video: HTMLVideoElement
  readonly #timeline: Timeline
  readonly #options: PlaybackOptions
  readonly #live: LiveConnection | undefined
  readonly #began = performance.now()
  #mode: Mode
  #engine: Engine | undefined
  /** Counts what was opened, so that what belongs to an earlier opening is ignored. */
  #turn = 0
  /** Where to begin, while nothing is open. */
  #position: number
  #hasEnded = false

  constructor(view: PlayerView, options: PlaybackOptions) {
    this.#view = view
    this.#video = view.video
    this.#options = options
    this.#position = options.start ?? 0
    this.#mode = options.broadcast !== undefined && options.start === undefined ? 'live' : 'recorded'
    this.#timeline = new Timeline(view, seconds => this.seekTo(seconds))
    this.#live =
      options.broadcast &&
      new LiveConnection(view.video, {
        user_id: options.user_id,
        broadcast: options.broadcast,
        play: () => view.play(),
        changed: state => this.#onLive(state),
      })
    this.#followVideo()
    setInterval(() => this.#render(), TICK_MILLISECONDS)
    if (this.#live !== undefined) setInterval(() => this.#findRecording(), NEW_MILLISECONDS)
    view.show('idle')
    this.#render()
  }

  /** Whether there is a position to choose. */
  get canSeek(): boolean {
    return this.#recording !== undefined
  }

  /** Whether something is loaded, or being loaded. */
  get isOpen(): boolean {
    return this.#engine !== undefined || this.#live?.isOpen === true
  }

  /** In seconds. While a broadcast runs, its length is that of the time since its start. */
  get length(): number {
    const { duration } = this.#video
    const isGrowing = this.#live !== undefined && !this.#hasEnded
    if (isGrowing) return this.#options.seconds + (performance.now() - this.#began) / 1000
    return this.#mode === 'recorded' &&
      this.#engine !== undefined &&
      Number.isFinite(duration) &&
      duration > 0
      ? duration
      : this.#options.seconds
  }

  get position(): number {
    if (this.#mode === 'live') return this.length
    return this.#engine === undefined || this.#video.readyState === 0
      ? this.#position
      : this.#video.currentTime
  }

  get isLive(): boolean {
    return this.#mode === 'live'
  }

  async play(): Promise<void> {
    if (this.#mode === 'live') this.#live?.start()
    else if (this.#engine === undefined) await this.#open(this.#position)
    else {
      this.#view.show('loading')
      if (this.#video.ended) this.#video.currentTime = 0
      await this.#start(this.#turn)
    }
  }

  /** A recording waits; so does a broadcast that is recorded, unless it is continued within seconds. */
  pause(): void {
    if (this.#mode === 'recorded') this.#video.pause()
    else {
      const { shownAt } = this.#live ?? {}
      const position = shownAt === undefined ? this.length : (shownAt - this.#options.startedAt) / 1000
      this.#live?.pause()
      if (this.canSeek) this.#rewindTo(Math.min(Math.max(0, position), this.length))
    }
    this.#view.show('idle')
  }

  seekTo(seconds: number): void {
    const target = Math.min(Math.max(0, seconds), this.length)
    if (!this.canSeek) return
    if (this.#live !== undefined && !this.#hasEnded && target > this.length - LIVE_SECONDS) {
      this.goLive()
      return
    }
    // After the end of a broadcast, its recording remains.
    const plays = this.#view.state !== 'idle'
    if (this.#mode === 'live') {
      this.#live?.pause()
      this.#rewindTo(target)
    } else if (this.#engine === undefined) this.#position = target
    else this.#video.currentTime = target
    this.#render()
    if (plays && this.#engine === undefined) void this.#open(target)
  }

  seekBy(seconds: number): void {
    this.seekTo(this.position + seconds)
  }

  /** Returns to what is live now. */
  goLive(): void {
    if (this.#live === undefined || this.#mode === 'live') return
    this.#close()
    this.#mode = 'live'
    this.#video.playbackRate = 1
    this.#live.start()
    this.#render()
  }

  /** The recording of a broadcast that runs may begin after the page was rendered. */
  get #recording(): string | undefined {
    return this.#options.recording ?? this.#live?.broadcast.recording ?? undefined
  }

  /**
   * Browsers pause and start a video too: by a key of the keyboard, or a button of the small window. By the time an
   * event comes, the opposite may have happened.
   */
  #followVideo(): void {
    const video = this.#video
    video.addEventListener('playing', () => {
      if (this.isOpen && !video.paused) this.#view.show('playing')
    })
    video.addEventListener('waiting', () => {
      if (this.#view.state === 'playing') this.#view.show('loading')
    })
    video.addEventListener('pause', () => {
      if (this.isOpen && video.paused && !video.ended && this.#view.state !== 'idle') this.pause()
    })
    video.addEventListener('play', () => {
      if (!video.paused && this.#view.state === 'idle') void this.play()
    })
    video.addEventListener('ended', () => this.#onEnded())
  }

  #findRecording(): void {
    if (!this.canSeek && this.#view.state === 'playing' && this.length * 1000 < 6 * NEW_MILLISECONDS)
      void this.#live?.refresh()
  }

  #rewindTo(seconds: number): void {
    this.#mode = 'recorded'
    this.#position = seconds
  }

  async #open(from: number): Promise<void> {
    this.#close()
    const url = this.#recording
    if (url === undefined) return
    // A pause of a few seconds: the recording does not have them yet.
    if (this.#live !== undefined && !this.#hasEnded && from > this.length - LIVE_SECONDS) {
      this.goLive()
      return
    }
    const turn = this.#turn
    this.#position = from
    this.#view.show('loading')
    this.#video.preload = 'auto'
    const opening = {
      url,
      from,
      ready: () => void this.#start(turn),
      lost: () => this.#fail(turn),
    }
    const engine = /\.m3u8$/i.test(new URL(url, location.href).pathname)
      ? await openPlaylist(this.#video, opening)
      : openFile(this.#video, opening)
    if (this.#turn !== turn) engine?.destroy()
    else if (engine === undefined) this.#view.show(...MESSAGES.unsupported)
    else this.#engine = engine
  }

  async #start(turn: number): Promise<void> {
    if ((await this.#view.play()) === 'blocked' && this.#turn === turn) this.#view.show('idle')
  }

  #close(): void {
    this.#turn += 1
    this.#live?.stop()
    this.#engine?.destroy()
    this.#engine = undefined
  }

  /** Play opens it again, at the same position. */
  #fail(turn: number): void {
    if (this.#turn !== turn) return
    this.#position = this.position
    this.#close()
    this.#view.show('idle', 'The recording could not be loaded. Play tries again.')
  }

  #onLive(state: LiveState): void {
    if (state === 'ended') this.#hasEnded = true
    if (state === 'moved') location.reload()
    this.#view.show(...MESSAGES[state])
    this.#render()
  }

  /** A recording that grew was watched to its end: what follows is live, unless the broadcast has ended. */
  #onEnded(): void {
    if (this.#mode === 'live') return
    if (this.#live === undefined || this.#hasEnded) this.#view.show('idle')
    else this.goLive()
  }

  #render(): void {
    const { root } = this.#view
    root.dataset.mode = this.#mode
    this.#view.part('timeline').hidden = !this.canSeek
    this.#view.part('live').hidden = this.#live === undefined || this.#hasEnded
    if (this.canSeek) {
      const { position, length } = this
      this.#timeline.show({
        position,
        length,
        loaded: this.#mode === 'live' ? length : this.#loaded(position),
      })
    }
    const isAhead = this.#mode === 'recorded' && !this.#video.paused && this.#video.playbackRate > 1
    if (isAhead && this.#live !== undefined && this.position > this.length - LIVE_SECONDS) this.goLive()
  }

  /** The end of what is loaded around a position. */
  #loaded(position: number): number {
    const { buffered } = this.#video
    for (let at = 0; at < buffered.length; at++)
      if (buffered.start(at) <= position + 0.5 && position <= buffered.end(at)) return buffered.end(at)
    return position
  }
}
