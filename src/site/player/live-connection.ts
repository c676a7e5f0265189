/**
 * Keeps a broadcast in a video element. The playlist is loaded only while a publisher is connected, which it asks the server
 * of the page: a playlist that does not exist would be an error in the console of every viewer.
 *
 *     connecting --> playing --(lost, ended, stalled)--> ask --> on air: connect again
 *                                                         ^ '--> away: wait, ask again
 *                                                         '----> no answer: wait, ask again
 *                                                          '---> ended
 */
import { waitBefore, waitForPublisher } from './backoff.ts'
import { askForBroadcast, type Broadcast } from './broadcast.ts'
import { type Engine, openPlaylist } from './engine.ts'

/**
 * What becomes of the connection. `blocked`: the browser starts no video without a click. `moved`: another node has the
 * broadcast now, which only another page may load from.
 */
export type LiveState =
  | 'connecting'
  | 'waiting'
  | 'reconnecting'
  | 'ended'
  | 'unsupported'
  | 'blocked'
  | 'moved'

interface LiveOptions {
  readonly user_id: string
  /** As it was when the page was rendered. */
  readonly broadcast: Broadcast
  /** Starts the video. */
  readonly play: () => Promise<'playing' | 'blocked' | 'interrupted'>
  readonly changed: (state: LiveState) => void
}

/** A picture that stood still for so long counts as a lost connection. */
const STALLED_MILLISECONDS = 10_000
const WATCH_MILLISECONDS = 500
/** A broadcast that has just ended may still be listed as one that runs. */
const ENDED_MILLISECONDS = 1000

export class LiveConnection {
  readonly #video: HTMLVideoElement
  readonly #options: LiveOptions
  #broadcast: Broadcast
  /** Counts connections, so that what belongs to an earlier one is ignored. */
  #turn = 0
  #isOpen = false
  #engine: Engine | undefined
  #attempt = 0
  #seen: string | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #watch: ReturnType<typeof setInterval> | undefined

  constructor(video: HTMLVideoElement, options: LiveOptions) {
    this.#video = video
    this.#options = options
    this.#broadcast = options.broadcast
  }

  get broadcast(): Broadcast {
    return this.#broadcast
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** When the picture that is shown was broadcast. */
  get shownAt(): number | undefined {
    return this.#engine?.shownAt
  }

  start(): void {
    this.stop()
    this.#isOpen = true
    this.#attempt = 0
    this.#seen = undefined
    this.#options.changed('connecting')
    if (this.#broadcast.isOnAir) void this.#connect()
    else void this.#ask(this.#turn)
  }

  stop(): void {
    this.#isOpen = false
    this.#disconnect()
  }

  /** Stops, with the last picture. */
  pause(): void {
    this.#isOpen = false
    this.#ignoreEngine()
    this.#engine?.stopLoading?.()
    this.#video.pause()
  }

  /** Asks what is known of the broadcast now. */
  async refresh(): Promise<void> {
    const broadcast = await askForBroadcast(this.#options.user_id)
    if (broadcast && broadcast.origin === this.#broadcast.origin) this.#broadcast = broadcast
  }

  async #connect(): Promise<void> {
    this.#disconnect()
    const turn = this.#turn
    const lost = () => {
      if (this.#turn === turn) this.#recover()
    }
    const ready = async () => {
      if ((await this.#options.play()) === 'blocked' && this.#turn === turn) this.#end('blocked')
    }
    this.#video.preload = 'auto'
    const opening = { url: this.#broadcast.source, from: 'live', ready: () => void ready(), lost } as const
    const engine = await openPlaylist(this.#video, opening, this.#seen)
    if (this.#turn !== turn) engine?.destroy()
    else if (engine === undefined) this.#end('unsupported')
    else {
      this.#engine = engine
      this.#video.addEventListener('ended', this.#onEnded)
      this.#watchMotion(lost)
    }
  }

  readonly #onEnded = () => this.#recover()

  #watchMotion(lost: () => void): void {
    let [time, movedAt] = [this.#video.currentTime, performance.now()]
    this.#watch = setInterval(() => {
      const now = performance.now()
      if (this.#video.currentTime === time) {
        if (now - movedAt > STALLED_MILLISECONDS) lost()
        return
      }
      ;[time, movedAt] = [this.#video.currentTime, now]
      this.#attempt = 0
      this.#seen = this.#engine?.lastSegment
    }, WATCH_MILLISECONDS)
  }

  #disconnect(): void {
    this.#ignoreEngine()
    this.#engine?.destroy()
    this.#engine = undefined
  }

  #ignoreEngine(): void {
    this.#turn += 1
    clearTimeout(this.#timer)
    clearInterval(this.#watch)
    this.#video.removeEventListener('ended', this.#onEnded)
  }

  #end(state: LiveState): void {
    this.stop()
    this.#options.changed(state)
  }

  #recover(): void {
    this.#seen = this.#engine?.lastSegment ?? this.#seen
    this.#disconnect()
    this.#options.changed('reconnecting')
    const turn = this.#turn
    this.#timer = setTimeout(() => void this.#ask(turn), ENDED_MILLISECONDS)
  }

  /** Connects as soon as a publisher is there. */
  async #ask(turn: number): Promise<void> {
    const broadcast = await askForBroadcast(this.#options.user_id)
    if (this.#turn !== turn) return
    if (broadcast === null) {
      this.#end('ended')
      return
    }
    // The policy of the page does not allow the node that has it now.
    if (broadcast !== undefined && broadcast.origin !== this.#broadcast.origin) {
      this.#end('moved')
      return
    }
    this.#broadcast = broadcast ?? this.#broadcast
    if (broadcast?.isOnAir) {
      this.#connectSoon()
      return
    }
    this.#options.changed(broadcast === undefined ? 'reconnecting' : 'waiting')
    const wait = broadcast === undefined ? waitBefore(this.#attempt++, Math.random()) : waitForPublisher()
    this.#timer = setTimeout(() => void this.#ask(turn), wait)
  }

  /** At once, unless that has just failed. */
  #connectSoon(): void {
    const attempt = this.#attempt++
    if (attempt === 0) {
      void this.#connect()
      return
    }
    this.#options.changed('waiting')
    this.#timer = setTimeout(() => void this.#connect(), waitBefore(attempt - 1, Math.random()))
  }
}
