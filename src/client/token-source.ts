import type { Token } from './token.ts'

/** The tokens of one credential of a client. */
export class TokenSource {
  readonly #token: Token | undefined
  /** The last renewal: calls whose token was rejected at the same time share it. */
  #renewal: { readonly rejected: string; readonly renewed: Promise<string> } | undefined

  constructor(token: Token | undefined) {
    this.#token = token
  }

  async current(): Promise<string | undefined> {
    return typeof this.#token === 'function' ? this.#token() : this.#token
  }

  /** Another token instead of the rejected one; undefined if there is none. */
  async renew(rejected: string): Promise<string | undefined> {
    if (typeof this.#token !== 'function') return undefined
    if (this.#renewal?.rejected !== rejected) {
      const ask = this.#token
      this.#renewal = { rejected, renewed: Promise.resolve().then(() => ask(rejected)) }
    }
    const renewal = this.#renewal
    try {
      const token = await renewal.renewed
      if (token !== rejected) return token
    } catch (error) {
      this.#forget(renewal)
      throw error
    }
    this.#forget(renewal)
    return undefined
  }

  #forget(renewal: object): void {
    if (this.#renewal === renewal) this.#renewal = undefined
  }
}
