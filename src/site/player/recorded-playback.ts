/** A recording: starts where the link points to, and seeks with the index of its key frames. */
import mpegts from 'mpegts.js'
import { clockTime } from '../../kit/time/clock-time.ts'
import type { Playback } from './controls.ts'
import { bufferedRanges, startBehindGap } from './gaps.ts'
import type { PlayerView } from './player-view.ts'
import { type FileSize, rangesWithin } from './ranges.ts'

const CONFIG: mpegts.Config = {
  seekType: 'custom',
  accurateSeek: true,
  // Seeking asks the node that has the recording without another redirect.
  reuseRedirectedURL: true,
  lazyLoadMaxDuration: 30,
  lazyLoadRecoverDuration: 10,
}

const WATCH_MILLISECONDS = 250
const MAX_START_TICKS = 4
/** Without progress for so long, the recording is opened again; the next time after twice as long. */
const STUCK_TICKS = 12

/** The position to start at, and what is known of the load so far. */
interface Start {
  seconds: number
  bufferedEnd: number
  ticks: number
}

export class RecordedPlayback implements Playback {
  readonly #view: PlayerView
  readonly #source: string
  readonly #slider: HTMLInputElement
  #engine: mpegts.Player | undefined
  #isDragging = false
  #start: Start | undefined
  /** Where a seek leads that has not arrived yet. */
  #target: number | undefined
  #stuck = { ticks: 0, limit: STUCK_TICKS, buffered: '' }

  constructor(view: PlayerView, source: string) {
    this.#view = view
    this.#source = source
    this.#slider = view.part('seek')
    this.#slider.addEventListener('input', () => {
      this.#isDragging = true
      this.#showPosition(Number(this.#slider.value))
    })
    this.#slider.addEventListener('change', () => {
      this.#isDragging = false
      this.seekTo(Number(this.#slider.value))
    })
    for (const link of document.querySelectorAll<HTMLElement>('[data-seek]'))
      link.addEventListener('click', event => {
        event.preventDefault()
        this.seekTo(Number(link.dataset.seek))
        void this.play()
        view.root.scrollIntoView({ block: 'nearest' })
      })
    view.video.addEventListener('durationchange', () => this.#showDuration())
    view.video.addEventListener('ended', () => view.show('idle'))
    view.video.addEventListener('waiting', () => {
      if (view.state === 'playing') view.show('loading')
    })
    view.video.addEventListener('playing', () => view.show('playing'))
    setInterval(() => this.#watch(), WATCH_MILLISECONDS)
    this.#showPosition(Number(this.#slider.value))
    view.show('idle')
  }

  async play(): Promise<void> {
    const { video } = this.#view
    if (this.#engine === undefined && !this.#open()) return
    this.#view.show('loading')
    if (video.ended) video.currentTime = 0
    if (this.#start === undefined && (await this.#view.play()) === 'blocked') this.#view.show('idle')
  }

  pause(): void {
    this.#start = undefined
    this.#view.video.pause()
    this.#view.show('idle')
  }

  /** Before the recording is open, moves the place where it will start. */
  seekTo(seconds: number): void {
    const target = Math.min(Math.max(0, seconds), Number(this.#slider.max))
    this.#slider.value = String(target)
    this.#showPosition(target)
    if (this.#start !== undefined) this.#start.seconds = target
    else if (this.#engine !== undefined && !this.#slider.disabled) {
      this.#target = target
      this.#view.video.currentTime = target
    }
  }

  seekBy(seconds: number): void {
    const from = this.#engine === undefined ? Number(this.#slider.value) : this.#view.video.currentTime
    this.seekTo(from + seconds)
  }

  #open(): boolean {
    if (!mpegts.isSupported()) {
      this.#view.show('ended', 'This browser cannot play this recording.')
      return false
    }
    const file: FileSize = { bytes: Number.POSITIVE_INFINITY }
    const config = { ...CONFIG, customSeekHandler: rangesWithin(file) }
    const engine = mpegts.createPlayer({ type: 'flv', isLive: false, url: this.#source }, config)
    this.#engine = engine
    engine.on(mpegts.Events.METADATA_ARRIVED, ({ filesize }: { filesize?: number }) => {
      file.bytes = filesize || file.bytes
    })
    engine.on(mpegts.Events.MEDIA_INFO, ({ hasKeyframesIndex }: { hasKeyframesIndex?: boolean }) => {
      // An interrupted recording has no index: it plays from the start only.
      this.#slider.disabled = hasKeyframesIndex !== true
    })
    engine.on(mpegts.Events.ERROR, () => this.#fail(engine))
    this.#view.video.preload = 'auto'
    engine.attachMediaElement(this.#view.video)
    engine.load()
    const seconds = Number(this.#slider.value)
    if (seconds > 0) this.#start = { seconds, bufferedEnd: 0, ticks: 0 }
    return true
  }

  /**
   * Seeks to the start of playback when loading has settled. The player library takes the end of a load for the end of the
   * video, if a seek drops what a quick load has brought before all of it is buffered.
   */
  #seekToStart(start: Start): void {
    const { video } = this.#view
    const ranges = bufferedRanges(video.buffered)
    const bufferedEnd = ranges.at(-1)?.end ?? 0
    const isBuffered = ranges.some(range => range.start <= start.seconds && start.seconds < range.end)
    const isSettled = bufferedEnd > 0 && bufferedEnd === start.bufferedEnd
    start.ticks += 1
    start.bufferedEnd = bufferedEnd
    if (!isBuffered && !isSettled && start.ticks < MAX_START_TICKS) return
    this.#start = undefined
    if (!this.#slider.disabled) video.currentTime = start.seconds
    void this.play()
  }

  /** Play opens it again, at the same position. */
  #fail(engine: mpegts.Player): void {
    if (this.#engine !== engine) return
    this.#engine = undefined
    engine.destroy()
    this.#view.show('idle', 'The recording could not be loaded. Play tries again.')
  }

  #watch(): void {
    const { video } = this.#view
    if (this.#engine === undefined || video.readyState === 0) return
    if (this.#start !== undefined) {
      this.#seekToStart(this.#start)
      return
    }
    this.#watchProgress()
    if (!this.#isDragging && !video.seeking) {
      this.#slider.value = String(video.currentTime)
      this.#showPosition(video.currentTime)
    }
    if (video.paused || video.readyState > 2) return
    const behind = startBehindGap(bufferedRanges(video.buffered), video.currentTime)
    if (behind !== undefined) video.currentTime = behind + 0.05
  }

  /**
   * Opens the recording again where playback should be, if it neither loads nor plays: after a seek during a quick load, the
   * player library may wait for what it has dropped.
   */
  #watchProgress(): void {
    const { video } = this.#view
    const target = this.#target ?? video.currentTime
    const hasArrived = !video.seeking && Math.abs(video.currentTime - target) < 1
    if (hasArrived) this.#target = undefined
    const isWaiting = !hasArrived || (!video.paused && !video.ended && video.readyState <= 2)
    const buffered = JSON.stringify(bufferedRanges(video.buffered))
    if (!isWaiting || buffered !== this.#stuck.buffered) {
      this.#stuck.ticks = 0
      this.#stuck.buffered = buffered
      if (!isWaiting) this.#stuck.limit = STUCK_TICKS
      return
    }
    this.#stuck.ticks += 1
    if (this.#stuck.ticks < this.#stuck.limit || this.#slider.disabled) return
    this.#stuck = { ticks: 0, limit: this.#stuck.limit * 2, buffered: '' }
    const engine = this.#engine
    this.#engine = undefined
    this.#target = undefined
    engine?.destroy()
    this.#slider.value = String(target)
    this.#showPosition(target)
    void this.play()
  }

  #showPosition(seconds: number): void {
    const text = clockTime(seconds)
    this.#view.part('position').textContent = text
    this.#slider.setAttribute('aria-valuetext', text)
    const share = Number(this.#slider.max) === 0 ? 0 : seconds / Number(this.#slider.max)
    this.#slider.style.setProperty('--filled', `${Math.min(share, 1) * 100}%`)
  }

  #showDuration(): void {
    const { duration } = this.#view.video
    if (!Number.isFinite(duration) || duration <= 0) return
    this.#slider.max = String(duration)
    this.#view.part('duration').textContent = clockTime(duration)
  }
}
