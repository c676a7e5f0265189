/** The bar with the position: how far the video has come, what is loaded, where its markers are. */
import { clockTime } from '../../kit/time/clock-time.ts'
import type { PlayerView } from './player-view.ts'

/** Where the video is, in seconds. `length` grows while a broadcast runs. */
export interface Progress {
  readonly position: number
  readonly length: number
  /** How far it is loaded. */
  readonly loaded: number
}

/** The pointer this close to a pin, in pixels, is on it. */
const PIN_PIXELS = 8

export class Timeline {
  readonly #view: PlayerView
  readonly #slider: HTMLInputElement
  readonly #tip: HTMLElement
  readonly #pins: readonly HTMLElement[]
  /** Whole seconds, at least 1 when it is known. */
  #length = 0
  #isDragging = false

  /** `seek` is called with seconds when a place was chosen. */
  constructor(view: PlayerView, seek: (seconds: number) => void) {
    this.#view = view
    this.#slider = view.part('seek')
    this.#tip = view.part('tip')
    this.#pins = [...view.root.querySelectorAll<HTMLElement>('[data-pin]')]
    this.#slider.addEventListener('input', () => {
      this.#isDragging = true
      this.#render(Number(this.#slider.value))
      this.#showTip(Number(this.#slider.value))
    })
    this.#slider.addEventListener('change', () => {
      this.#isDragging = false
      seek(Number(this.#slider.value))
    })
    const bar = view.part('timeline')
    bar.addEventListener('pointermove', event => this.#point(event))
    for (const name of ['pointerleave', 'pointerup', 'pointercancel'])
      bar.addEventListener(name, () => this.#hideTip())
    this.#slider.addEventListener('blur', () => this.#hideTip())
  }

  show({ position, length, loaded }: Progress): void {
    const seconds = Math.max(1, Math.round(length))
    if (seconds !== this.#length) {
      this.#length = seconds
      this.#slider.max = String(seconds)
      for (const pin of this.#pins) pin.style.left = `${this.#share(Number(pin.dataset.pin)) * 100}%`
    }
    this.#slider.style.setProperty('--loaded', String(this.#share(loaded)))
    if (this.#isDragging) return
    // The thumb, the bar and the text show the same second.
    const second = Math.floor(position)
    this.#slider.value = String(second)
    this.#render(second)
  }

  #render(position: number): void {
    const text = `${clockTime(position)} of ${clockTime(this.#length)}`
    if (this.#slider.getAttribute('aria-valuetext') !== text)
      this.#slider.setAttribute('aria-valuetext', text)
    this.#slider.style.setProperty('--filled', String(this.#share(position)))
    this.#view.part('position').textContent = clockTime(position)
    this.#view.part('duration').textContent = clockTime(this.#length)
  }

  #point({ clientX }: PointerEvent): void {
    const { left, width } = this.#track()
    const share = Math.min(1, Math.max(0, (clientX - left) / width))
    this.#showTip(share * this.#length)
  }

  /** The time at a place, and the text of the marker that is there. */
  #showTip(seconds: number): void {
    const { width } = this.#track()
    const reach = (PIN_PIXELS * this.#length) / width
    const distance = (pin: HTMLElement) => Math.abs(Number(pin.dataset.pin) - seconds)
    const [nearest] = this.#pins
      .filter(pin => distance(pin) <= reach)
      .sort((one, other) => distance(one) - distance(other))
    const at = nearest === undefined ? seconds : Number(nearest.dataset.pin)
    this.#view.part('tip-time').textContent = clockTime(at)
    this.#view.part('tip-text').textContent = nearest?.dataset.text ?? ''
    this.#tip.hidden = false
    // Within the bar, however long the text is.
    const half = this.#tip.offsetWidth / 2
    const middle = this.#share(at) * width
    this.#tip.style.left = `${Math.min(Math.max(middle, half), Math.max(half, width - half))}px`
  }

  #hideTip(): void {
    this.#tip.hidden = true
  }

  /** Where the middle of the thumb moves: the pins and the tip are within the same box. */
  #track(): { readonly left: number; readonly width: number } {
    const { left, width } = this.#view.part('track').getBoundingClientRect()
    return { left, width: Math.max(1, width) }
  }

  /** From 0 to 1. */
  #share(seconds: number): number {
    return Math.min(1, Math.max(0, seconds / Math.max(1, this.#length)))
  }
}
