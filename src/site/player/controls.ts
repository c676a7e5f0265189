/** Buttons, sliders and keys of the player. */
import { type FocusedKind, findKeyAction, type KeyAction } from './keys.ts'
import type { Playback } from './playback.ts'
import type { PlayerView } from './player-view.ts'
import { changePreferences, readPreferences } from './preferences.ts'

/** The bar disappears when nothing has moved for so long. */
const QUIET_MILLISECONDS = 2500
const HINT_MILLISECONDS = 900

export class Controls {
  readonly #view: PlayerView
  readonly #playback: Playback
  #quiet: ReturnType<typeof setTimeout> | undefined
  #hint: ReturnType<typeof setTimeout> | undefined
  /** Whether the bar was hidden when a finger came down. */
  #wasQuiet = false

  constructor(view: PlayerView, playback: Playback) {
    this.#view = view
    this.#playback = playback
    const { root, video } = view
    const { volume, isMuted, isTheatre } = readPreferences()
    video.volume = volume
    video.muted = isMuted
    root.toggleAttribute('data-theatre', isTheatre)
    view.part('bar').hidden = false
    view.part('picture').hidden = !document.pictureInPictureEnabled
    this.#listenToButtons()
    this.#listenToSliders()
    for (const name of ['volumechange', 'ratechange', 'enterpictureinpicture', 'leavepictureinpicture'])
      video.addEventListener(name, () => this.#render())
    root.addEventListener('statechange', () => {
      this.#render()
      // What does not play is not covered by the bar.
      if (view.state !== 'playing') this.#wake()
    })
    document.addEventListener('fullscreenchange', () => this.#render())
    document.addEventListener('keydown', event => this.#press(event))
    root.addEventListener('pointerdown', () => {
      this.#wasQuiet = root.dataset.quiet !== undefined
    })
    for (const name of ['pointermove', 'pointerdown', 'focusin', 'keydown'])
      root.addEventListener(name, () => this.#wake())
    root.addEventListener('pointerleave', () => this.#wake(QUIET_MILLISECONDS / 3))
    this.#render()
    this.#wake()
  }

  #listenToButtons(): void {
    const { root } = this.#view
    const onClick = (name: string, act: (event: MouseEvent) => void) =>
      this.#view.part(name).addEventListener('click', act)
    onClick('start', () => void this.#playback.play())
    onClick('toggle', () => this.#toggle())
    onClick('shade', event => {
      // The first touch shows the bar.
      const isTouch = event instanceof PointerEvent && event.pointerType === 'touch'
      if (!isTouch || !this.#wasQuiet) this.#toggle()
    })
    this.#view.part('shade').addEventListener('dblclick', () => void this.#fullscreen())
    onClick('mute', () => this.#mute(!this.#isSilent))
    onClick('unmute', () => this.#mute(false))
    onClick('live', () => this.#playback.goLive())
    onClick('keys', () => this.#showKeys())
    onClick('picture', () => void this.#pictureInPicture())
    onClick('theatre', () => this.#theatre())
    onClick('fullscreen', () => void this.#fullscreen())
    for (const place of document.querySelectorAll<HTMLElement>('[data-seek]'))
      place.addEventListener('click', event => {
        event.preventDefault()
        this.#playback.seekTo(Number(place.dataset.seek))
        if (!this.#isPlaying) void this.#playback.play()
        root.scrollIntoView({ block: 'nearest' })
      })
  }

  #listenToSliders(): void {
    const { video } = this.#view
    const volume = this.#view.part<HTMLInputElement>('volume')
    volume.addEventListener('input', () => this.#changeVolume(Number(volume.value) / 100))
    const rate = this.#view.part<HTMLSelectElement>('rate')
    rate.addEventListener('change', () => {
      video.playbackRate = Number(rate.value)
    })
  }

  get #isPlaying(): boolean {
    return this.#view.state === 'playing' || this.#view.state === 'loading'
  }

  get #isSilent(): boolean {
    return this.#view.video.muted || this.#view.video.volume === 0
  }

  #toggle(): void {
    if (this.#view.state === 'ended') return
    if (this.#isPlaying) this.#playback.pause()
    else void this.#playback.play()
  }

  #mute(isMuted: boolean): void {
    const { video } = this.#view
    video.muted = isMuted
    if (!isMuted && video.volume === 0) video.volume = 0.5
    this.#view.part('unmute').hidden = true
    changePreferences({ isMuted, volume: video.volume })
  }

  #changeVolume(volume: number): void {
    this.#view.video.volume = Math.min(1, Math.max(0, volume))
    this.#mute(this.#view.video.volume === 0)
  }

  #theatre(): void {
    const isTheatre = this.#view.root.toggleAttribute('data-theatre')
    changePreferences({ isTheatre })
    this.#render()
  }

  async #pictureInPicture(): Promise<void> {
    if (!document.pictureInPictureEnabled) return
    // A video that is not loaded yet has no picture to move.
    if (document.pictureInPictureElement !== null) await document.exitPictureInPicture()
    else await this.#view.video.requestPictureInPicture().catch(() => undefined)
  }

  /** Phones enlarge only the video itself. */
  async #fullscreen(): Promise<void> {
    const { root, video } = this.#view
    if (document.fullscreenElement !== null) await document.exitFullscreen()
    else if (document.fullscreenEnabled) await root.requestFullscreen()
    else (video as { webkitEnterFullscreen?(): void }).webkitEnterFullscreen?.()
  }

  #showKeys(): void {
    const dialog = this.#view.part<HTMLDialogElement>('key-list')
    if (dialog.open) dialog.close()
    else dialog.showModal()
  }

  /** Keys work everywhere on the page, except where they mean something else. */
  #press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    const action = findKeyAction(event.key, this.#findFocusedKind(event.target))
    const isListOpen = this.#view.part<HTMLDialogElement>('key-list').open
    if (action === undefined || (isListOpen && action.act !== 'keys')) return
    if ((action.act === 'seek' || action.act === 'jump') && !this.#playback.canSeek) return
    event.preventDefault()
    this.#perform(action)
    this.#wake()
  }

  #findFocusedKind(target: EventTarget | null): FocusedKind {
    if (!(target instanceof Element)) return 'none'
    // On the position, the arrow keys seek as they do everywhere.
    if (target === this.#view.part('seek')) return 'none'
    if (target.closest('input[type=range]')) return 'slider'
    if (target.closest('input, select, textarea, [contenteditable]')) return 'text'
    return target.closest('button, a, summary') ? 'button' : 'none'
  }

  #perform(action: KeyAction): void {
    const { video } = this.#view
    if (action.act === 'toggle') this.#toggle()
    else if (action.act === 'mute') this.#mute(!this.#isSilent)
    else if (action.act === 'fullscreen') void this.#fullscreen()
    else if (action.act === 'theatre') this.#theatre()
    else if (action.act === 'picture') void this.#pictureInPicture()
    else if (action.act === 'keys') this.#showKeys()
    else if (action.act === 'jump') this.#playback.seekTo(this.#playback.length * action.share)
    else if (action.act === 'volume') {
      this.#changeVolume(Math.round((video.volume + action.by) * 100) / 100)
      this.#showHint(`Volume ${Math.round(video.volume * 100)} %`)
    } else if (action.act === 'seek') {
      this.#playback.seekBy(action.by)
      this.#showHint(`${action.by < 0 ? '−' : '+'}${Math.abs(action.by)} s`)
    }
  }

  /** What a key has done, for a moment. */
  #showHint(text: string): void {
    const hint = this.#view.part('hint')
    hint.textContent = text
    clearTimeout(this.#hint)
    this.#hint = setTimeout(() => {
      hint.textContent = ''
    }, HINT_MILLISECONDS)
  }

  #wake(milliseconds = QUIET_MILLISECONDS): void {
    clearTimeout(this.#quiet)
    delete this.#view.root.dataset.quiet
    this.#quiet = setTimeout(() => {
      if (this.#view.state === 'playing') this.#view.root.dataset.quiet = ''
    }, milliseconds)
  }

  #render(): void {
    const { root, video } = this.#view
    const press = (name: string, isPressed: boolean) =>
      this.#view.part(name).setAttribute('aria-pressed', String(isPressed))
    this.#view.part('toggle').setAttribute('aria-label', this.#isPlaying ? 'Pause' : 'Play')
    press('mute', this.#isSilent)
    press('fullscreen', document.fullscreenElement === root)
    press('theatre', root.hasAttribute('data-theatre'))
    press('picture', document.pictureInPictureElement === video)
    const volume = this.#view.part<HTMLInputElement>('volume')
    volume.value = this.#isSilent ? '0' : String(Math.round(video.volume * 100))
    volume.style.setProperty('--filled', String(Number(volume.value) / 100))
    this.#view.part<HTMLSelectElement>('rate').value = String(video.playbackRate)
  }
}
