/** The elements of the player, which the server has put into the page. */

/**
 * `idle`: waits for the play button. `loading`: something was asked for and does not move yet. `ended`: nothing will come.
 * The style sheet shows and hides parts by it.
 */
export type PlayerState = 'idle' | 'loading' | 'playing' | 'ended'

export class PlayerView {
  readonly root: HTMLElement
  readonly video: HTMLVideoElement

  constructor(root: HTMLElement) {
    this.root = root
    this.video = this.part('video')
  }

  /** The element with this name; a page without it is a bug. */
  part<T extends HTMLElement>(name: string): T {
    const element = this.find<T>(name)
    if (element === undefined) throw new Error(`the player has no ${name}`)
    return element
  }

  find<T extends HTMLElement>(name: string): T | undefined {
    return this.root.querySelector<T>(`[data-part=${name}]`) ?? undefined
  }

  get state(): PlayerState {
    return this.root.dataset.state as PlayerState
  }

  /** The message is also read out by screen readers. */
  show(state: PlayerState, message = ''): void {
    this.root.dataset.state = state
    this.part('message').textContent = message
    this.part('start').hidden = state !== 'idle'
    this.root.dispatchEvent(new Event('statechange'))
  }

  /** Starts the video, unless a pause came before it was loaded; without sound if the browser allows sound only after a click. */
  async play(): Promise<'playing' | 'blocked' | 'interrupted'> {
    if (this.state !== 'loading') return 'interrupted'
    try {
      await this.video.play()
      return 'playing'
    } catch (error) {
      if (errorName(error) !== 'NotAllowedError') return 'interrupted'
      if (this.video.muted) return 'blocked'
    }
    this.video.muted = true
    this.part('unmute').hidden = false
    return this.play()
  }
}

const errorName = (error: unknown) => (error instanceof DOMException ? error.name : '')
