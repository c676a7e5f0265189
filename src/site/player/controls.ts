/** Buttons, sliders and keys of the player. */
import type { PlayerView } from './player-view.ts'

/** What the controls control. */
export interface Playback {
  play(): Promise<void>
  pause(): void
  /** Only recordings. */
  seekBy?(seconds: number): void
}

/** The bar disappears when nothing has moved for so long. */
const QUIET_MILLISECONDS = 2500
const STEP_SECONDS = 5

export class Controls {
  readonly #view: PlayerView
  readonly #playback: Playback
  #quiet: ReturnType<typeof setTimeout> | undefined

  constructor(view: PlayerView, playback: Playback) {
    this.#view = view
    this.#playback = playback
    const { root, video } = view
    view.part('bar').hidden = false
    const onClick = (name: string, act: () => void) => view.part(name).addEventListener('click', act)
    onClick('start', () => void playback.play())
    onClick('toggle', () => this.#toggle())
    onClick('shade', () => this.#toggle())
    onClick('mute', () => this.#mute(!video.muted))
    onClick('unmute', () => this.#mute(false))
    onClick('fullscreen', () => void this.#fullscreen())
    const volume = view.part<HTMLInputElement>('volume')
    volume.addEventListener('input', () => {
      video.volume = Number(volume.value) / 100
      this.#mute(volume.value === '0')
    })
    video.addEventListener('volumechange', () => this.#render())
    root.addEventListener('statechange', () => this.#render())
    document.addEventListener('fullscreenchange', () => this.#render())
    document.addEventListener('keydown', event => this.#press(event))
    for (const name of ['pointermove', 'pointerdown', 'focusin', 'keydown'])
      root.addEventListener(name, () => this.#wake())
    this.#render()
    this.#wake()
  }

  get #isPlaying(): boolean {
    return this.#view.state === 'playing' || this.#view.state === 'loading'
  }

  #toggle(): void {
    if (this.#view.state === 'ended') return
    if (this.#isPlaying) this.#playback.pause()
    else void this.#playback.play()
  }

  #mute(muted: boolean): void {
    this.#view.video.muted = muted
    this.#view.part('unmute').hidden = true
  }

  /** Phones enlarge only the video itself. */
  async #fullscreen(): Promise<void> {
    const { root, video } = this.#view
    if (document.fullscreenElement !== null) await document.exitFullscreen()
    else if (document.fullscreenEnabled) await root.requestFullscreen()
    else (video as { webkitEnterFullscreen?(): void }).webkitEnterFullscreen?.()
  }

  /** Keys work everywhere on the page, except where they mean something else. */
  #press(event: KeyboardEvent): void {
    const { target } = event
    if (event.ctrlKey || event.metaKey || event.altKey || !(target instanceof Element)) return
    const isControl = target.closest('button, a, input, select, textarea') !== null
    const act = this.#findAction(event.key, isControl)
    if (act === undefined) return
    event.preventDefault()
    act()
    this.#wake()
  }

  #findAction(key: string, isControl: boolean): (() => void) | undefined {
    const { video } = this.#view
    if (key === 'k' || (key === ' ' && !isControl)) return () => this.#toggle()
    if (key === 'm') return () => this.#mute(!video.muted)
    if (key === 'f') return () => void this.#fullscreen()
    const step = { ArrowLeft: -STEP_SECONDS, ArrowRight: STEP_SECONDS }[key]
    if (step === undefined || isControl || this.#playback.seekBy === undefined) return undefined
    return () => this.#playback.seekBy?.(step)
  }

  #wake(): void {
    clearTimeout(this.#quiet)
    delete this.#view.root.dataset.quiet
    this.#quiet = setTimeout(() => {
      if (this.#view.state === 'playing') this.#view.root.dataset.quiet = ''
    }, QUIET_MILLISECONDS)
  }

  #render(): void {
    const { video } = this.#view
    const isSilent = video.muted || video.volume === 0
    const isFull = document.fullscreenElement === this.#view.root
    this.#view.part('toggle').setAttribute('aria-label', this.#isPlaying ? 'Pause' : 'Play')
    this.#view.part('mute').setAttribute('aria-pressed', String(isSilent))
    this.#view.part('fullscreen').setAttribute('aria-pressed', String(isFull))
    const volume = this.#view.part<HTMLInputElement>('volume')
    volume.value = isSilent ? '0' : String(Math.round(video.volume * 100))
    volume.style.setProperty('--filled', `${volume.value}%`)
  }
}
