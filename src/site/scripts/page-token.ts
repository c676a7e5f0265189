/** The short-lived token of the page that is open, in exchange for the grant that the page carries and the session. */
import type { Scope } from '../../contract/scope.ts'
import { postedForm } from '../format/with-query.ts'

const MARGIN_MILLISECONDS = 60_000

/** The session that the page was made for has ended, or another user has logged in: only loading the page again helps. */
export class SessionEnded extends Error {
  override readonly name = 'SessionEnded'
}

export const GRANT_NAME = 'strand-grant'

export class PageToken {
  readonly #scopes: readonly Scope[] | undefined
  #current: Promise<{ text: string; ends: number }> | undefined

  /** @param scopes fewer than those of the page */
  constructor(scopes?: readonly Scope[]) {
    this.#scopes = scopes
  }

  async get(): Promise<string> {
    this.#current ??= exchange(this.#scopes)
    try {
      const { text, ends } = await this.#current
      if (performance.now() < ends) return text
    } catch (error) {
      this.#current = undefined
      throw error
    }
    this.#current = exchange(this.#scopes)
    return (await this.#current).text
  }

  forget(): void {
    this.#current = undefined
  }
}

async function exchange(scopes: readonly Scope[] | undefined): Promise<{ text: string; ends: number }> {
  const grant = document.querySelector<HTMLMetaElement>(`meta[name="${GRANT_NAME}"]`)?.content ?? ''
  const began = performance.now()
  // An empty field counts as absent, which means all scopes of the page.
  const scope = scopes && (scopes.join(' ') || 'none')
  const response = await fetch('/site/token', postedForm({ grant, scope }))
  if (response.status === 403) throw new SessionEnded('The session has ended. Reload the page.')
  if (!response.ok) throw new Error(`The page got no token: status ${response.status}.`)
  const { access_token, expires_in } = (await response.json()) as { access_token: string; expires_in: number }
  return { text: access_token, ends: began + Math.max(0, expires_in * 1000 - MARGIN_MILLISECONDS) }
}
