/** All pages by method and path, and how one becomes a response. */
import { createHash } from 'node:crypto'
import type { Problem } from '../contract/problem.ts'
import type { KeyRing } from '../kit/key-ring.ts'
import { showAccount, takeDisconnect, takeEndSession, takePassword } from './account.ts'
import { showActivate, takeActivate } from './activate.ts'
import { showAuthorize, takeConsent } from './authorize.ts'
import { Browser, type PageVisit } from './browser.ts'
import type { PageAnswer, PageHandler, PageRooms } from './house.ts'
import { document, pageHeaders } from './layout.ts'
import { showLogin, showSignUp, takeLogin, takeLogout, takeSignUp } from './login.ts'
import { STYLE } from './style.ts'
import { failurePage } from './views.ts'

/** The census of pages. */
export const PAGES: Readonly<Record<string, Readonly<Record<string, PageHandler>>>> = {
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

  /** Throws what the handler throws: `refuse` shows it, once it is known what it means. */
  async answer(visit: PageVisit): Promise<Response> {
    const browser = new Browser(visit, {
      csrfKeys: this.#ring.deriveAll('page-forms'),
      publicUrl: this.#rooms.publicUrl,
    })
    const handler = handlerOf(browser.method, browser.path)
    if (handler === undefined) throw new Error(`there is no page at ${browser.path}`)
    this.#rooms.limits.takeFromAddress(browser.address)
    return respond(await handler(browser, this.#rooms), visit, browser.newCookies)
  }

  /** A failure, as a person sees it. */
  refuse(visit: PageVisit, failure: Problem): Response {
    const response = respond(failurePage(failure, visit.requestId), visit)
    for (const [name, value] of Object.entries(failure.headers)) response.headers.set(name, value)
    return response
  }
}

function respond(answer: PageAnswer, { requestId }: PageVisit, cookies: readonly string[] = []): Response {
  const headers = new Headers({ ...HEADERS, 'X-Request-Id': requestId })
  for (const cookie of cookies) headers.append('Set-Cookie', cookie)
  if (!('goTo' in answer)) {
    if (answer.retryAfterSeconds !== undefined) headers.set('Retry-After', String(answer.retryAfterSeconds))
    return new Response(document(answer), { status: answer.status ?? 200, headers })
  }
  headers.delete('Content-Type')
  headers.set('Location', asHeaderValue(answer.goTo))
  return new Response(null, { status: 302, headers })
}

/** A registered redirect URI may have characters that a header must not; percent-encoded they mean the same. */
function asHeaderValue(uri: string): string {
  return uri.toWellFormed().replaceAll(/[^\x21-\x7e]/gu, character => encodeURIComponent(character))
}
