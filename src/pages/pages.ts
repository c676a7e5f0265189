/** Routes page requests to their handlers and turns the results into responses. */
import type { Problem } from '../contract/problem.ts'
import type { KeyRing } from '../kit/key-ring.ts'
import { showAccount, submitDisconnect, submitEndSession, submitPassword } from './account.ts'
import { showActivate, submitActivate } from './activate.ts'
import { showAuthorize, submitConsent } from './authorize.ts'
import { acceptsHtml, Browser, type PageContext } from './browser.ts'
import { channelOf, showChannel } from './channel.ts'
import { document, pageHeaders } from './layout.ts'
import { showLogin, showSignUp, submitLogin, submitLogout, submitSignUp } from './login.ts'
import type { PageAnswer, PageHandler, PageServices } from './session.ts'
import { showVideo } from './video.ts'
import { failurePage } from './views.ts'

/** The handlers of all pages, by path and method. */
export const PAGES: Readonly<Record<string, Readonly<Record<string, PageHandler>>>> = {
  '/oauth2/authorize': { GET: showAuthorize },
  '/oauth2/consent': { POST: submitConsent },
  '/oauth2/activate': { GET: showActivate },
  '/auth/authorize': { GET: showAuthorize },
  '/auth/activate': { GET: showActivate },
  '/activate': { GET: showActivate, POST: submitActivate },
  '/login': { GET: showLogin, POST: submitLogin },
  '/logout': { POST: submitLogout },
  '/signup': { GET: showSignUp, POST: submitSignUp },
  '/account': { GET: showAccount },
  '/account/disconnect': { POST: submitDisconnect },
  '/account/end-session': { POST: submitEndSession },
  '/account/password': { POST: submitPassword },
  '/videos/{video_id}': { GET: showVideo },
  '/{login}': { GET: showChannel },
}

const handlers = new Map(
  Object.entries(PAGES).map(([path, byMethod]) => [path, new Map(Object.entries(byMethod))] as const),
)

/** GET and HEAD, which differ only in the body. */
export function asksToSee(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

function handlerOf(method: string, path: string): PageHandler | undefined {
  const page = path.replace(/^\/videos\/[^/]+$/, '/videos/{video_id}')
  const byMethod =
    handlers.get(page) ?? (channelOf(path) === undefined ? undefined : handlers.get('/{login}'))
  return byMethod?.get(asksToSee(method) ? 'GET' : method)
}

export class Pages {
  readonly #services: PageServices
  readonly #ring: KeyRing

  constructor(services: PageServices, ring: KeyRing) {
    this.#services = services
    this.#ring = ring
  }

  /** Whether there may be a page for this request. A program that asks for JSON gets no channel: its path is wrong. */
  has({ request, path }: PageContext): boolean {
    const handler = handlerOf(request.method, path)
    return handler === showChannel ? acceptsHtml(request) !== 'no' : handler !== undefined
  }

  /** Throws what the handler throws; the caller maps it to a problem and passes that to `refuse`. */
  async answer(context: PageContext): Promise<Response> {
    const browser = new Browser(context, {
      csrfKeys: this.#ring.deriveAll('page-forms'),
      publicUrl: this.#services.publicUrl,
    })
    const handler = handlerOf(browser.method, browser.path)
    if (handler === undefined) throw new Error(`no page for ${browser.method} ${browser.path}`)
    this.#services.limits.takeFromAddress(browser.address)
    return respond(await handler(browser, this.#services), context, browser.newCookies)
  }

  /** The error page for a problem. */
  refuse(context: PageContext, failure: Problem): Response {
    const response = respond(failurePage(failure, context.requestId), context)
    for (const [name, value] of Object.entries(failure.headers)) response.headers.set(name, value)
    return response
  }
}

function respond(answer: PageAnswer, { requestId }: PageContext, cookies: readonly string[] = []): Response {
  const player = 'goTo' in answer ? undefined : answer.player
  const headers = new Headers({ ...pageHeaders(player), 'X-Request-Id': requestId })
  for (const cookie of cookies) headers.append('Set-Cookie', cookie)
  if (!('goTo' in answer)) {
    if (answer.retryAfterSeconds !== undefined) headers.set('Retry-After', String(answer.retryAfterSeconds))
    return new Response(document(answer), { status: answer.status ?? 200, headers })
  }
  headers.delete('Content-Type')
  headers.set('Location', asHeaderValue(answer.goTo))
  return new Response(null, { status: 302, headers })
}

/** A registered redirect URI may contain characters that are invalid in a header; percent-encoding keeps their meaning. */
function asHeaderValue(uri: string): string {
  return uri.toWellFormed().replaceAll(/[^\x21-\x7e]/gu, character => encodeURIComponent(character))
}
