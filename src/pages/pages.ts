/** All pages by method and path, and how one becomes a response. */
import { createHash } from 'node:crypto'
import type { KeyRing } from '../kit/key-ring.ts'
import { showAccount, takeDisconnect, takeEndSession, takePassword } from './account.ts'
import { showActivate, takeActivate } from './activate.ts'
import { showAuthorize, takeConsent } from './authorize.ts'
import { Browser } from './browser.ts'
import type { PageHandler, PageRooms } from './house.ts'
import { document, pageHeaders } from './layout.ts'
import { showLogin, showSignUp, takeLogin, takeLogout, takeSignUp } from './login.ts'
import { STYLE } from './style.ts'
import { problemPage } from './views.ts'

const PAGES: Readonly<Record<string, Readonly<Record<string, PageHandler>>>> = {
  '/oauth2/authorize': { GET: showAuthorize },
  '/oauth2/consent': { POST: takeConsent },
  '/oauth2/activate': { GET: showActivate },
  '/auth/authorize': { GET: showAuthorize },
  '/auth/activate': { GET: showActivate },
  '/activate': { GET: showActivate, POST: takeActivate },
  '/login': { GET: showLogin, POST: takeLogin },
  '/logout': { POST: takeLogout },
  '/signup': { GET: showSignUp, POST: takeSignUp },
  '/account': { GET: showAccount },
  '/account/disconnect': { POST: takeDisconnect },
  '/account/end-session': { POST: takeEndSession },
  '/account/password': { POST: takePassword },
}

const handlers = new Map(
  Object.entries(PAGES).map(([path, byMethod]) => [path, new Map(Object.entries(byMethod))] as const),
)

/** HEAD asks for what GET would show, without the text. */
export function asksToSee(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

function handlerOf(method: string, path: string): PageHandler | undefined {
  return handlers.get(path)?.get(asksToSee(method) ? 'GET' : method)
}

/** A request as the pages need it. */
export interface PageVisit {
  readonly request: Request
  readonly path: string
  readonly address: () => string
  readonly requestId: string
}

const HEADERS = pageHeaders(createHash('sha256').update(STYLE).digest('base64'))

export class Pages {
  readonly #rooms: PageRooms
  readonly #ring: KeyRing

  constructor(rooms: PageRooms, ring: KeyRing) {
    this.#rooms = rooms
    this.#ring = ring
  }

  /** Whether one of these is at this path with this method. */
  has(method: string, path: string): boolean {
    return handlerOf(method, path) !== undefined
  }

  async answer({ request, path, address, requestId }: PageVisit): Promise<Response> {
    const browser = new Browser(request, {
      address: address(),
      csrfKeys: this.#ring.deriveAll('page-forms'),
      publicUrl: this.#rooms.publicUrl,
    })
    const answer = await this.#handle(browser, path, requestId)
    const headers = new Headers({ ...HEADERS, 'X-Request-Id': requestId })
    for (const cookie of browser.newCookies) headers.append('Set-Cookie', cookie)
    if ('goTo' in answer) {
      headers.delete('Content-Type')
      headers.set('Location', answer.goTo)
      return new Response(null, { status: 302, headers })
    }
    if (answer.retryAfterSeconds !== undefined) headers.set('Retry-After', String(answer.retryAfterSeconds))
    return new Response(document(answer), { status: answer.status ?? 200, headers })
  }

  async #handle(browser: Browser, path: string, requestId: string): ReturnType<PageHandler> {
    try {
      const handler = handlerOf(browser.method, path)
      if (handler === undefined) throw new Error(`there is no page at ${path}`)
      return await handler(browser, this.#rooms)
    } catch (error) {
      this.#rooms.log.error({ request_id: requestId, error: String(error) }, 'a page failed')
      return problemPage(
        503,
        'Not right now',
        'Something is out of order on our side. Try again in a moment.',
      )
    }
  }
}
