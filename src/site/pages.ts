/** Routes page requests to their handlers and turns the results into responses. */
import { StrandError } from '../client/index.ts'
import type { Family } from '../contract/operation.ts'
import type { Problem } from '../contract/problem.ts'
import type { KeyRing } from '../kit/crypto/key-ring.ts'
import { Proofs } from '../kit/crypto/signed-text.ts'
import { isoMillis } from '../kit/time/clock.ts'
import { showConsole, submitConsole, submitConsoleLogin, submitConsoleLogout } from './console/console.ts'
import { CONSOLE, isConsolePath } from './console/paths.ts'
import type { ConsoleServices } from './console/services.ts'
import {
  showAccount,
  submitDisconnect,
  submitEndOtherSessions,
  submitEndSession,
  submitPassword,
} from './pages/account.ts'
import { showActivate, submitActivate } from './pages/activate.ts'
import { showAuthorize, submitConsent } from './pages/authorize.ts'
import { showBroadcast } from './pages/broadcast.ts'
import { parseChannelPath, showChannel } from './pages/channel.ts'
import { type DocsServices, showDocs } from './pages/docs.ts'
import { showDrops, submitClaim } from './pages/drops.ts'
import { showDropsChannels } from './pages/drops-channels.ts'
import { submitFollow } from './pages/follow.ts'
import { showGame, showGames } from './pages/games.ts'
import { showHome } from './pages/home.ts'
import { showLogin, showSignUp, submitLogin, submitLogout, submitSignUp } from './pages/login.ts'
import { showNewPassword, submitNewPassword } from './pages/new-password.ts'
import { submitAppearance, submitProfile } from './pages/profile.ts'
import { showSuggestions } from './pages/search.ts'
import { submitToken } from './pages/token.ts'
import { showVideo } from './pages/video.ts'
import { renderDocument } from './render/document.tsx'
import { pageHeaders } from './render/headers.ts'
import type { Page, PageAnswer } from './render/page.ts'
import { apiFailurePage, failurePage } from './render/problem-page.tsx'
import { acceptsHtml, Browser, type PageContext, readTheme } from './request/browser.ts'
import { type PageHandler, readSession } from './request/session.ts'
import {
  submitStudioChannel,
  submitStudioEditor,
  submitStudioKey,
  submitStudioMarker,
  submitStudioVideo,
} from './studio/forms.ts'
import { showMarkerFile, showStudio, showStudioStatus } from './studio/studio.ts'
import { studioPattern } from './studio/studio-context.ts'

type SiteServices = ConsoleServices & DocsServices
type SiteHandler = PageHandler<SiteServices>

/** The handlers of all pages, by path and method. */
export const PAGES: Readonly<Record<string, Readonly<Record<string, SiteHandler>>>> = {
  '/': { GET: showHome },
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
  '/account/profile': { POST: submitProfile },
  '/account/appearance': { POST: submitAppearance },
  '/account/end-other-sessions': { POST: submitEndOtherSessions },
  '/account/new-password': { GET: showNewPassword, POST: submitNewPassword },
  '/follow': { POST: submitFollow },
  '/drops': { GET: showDrops, POST: submitClaim },
  '/studio': { GET: showStudio('live') },
  '/studio/{login}': { GET: showStudio('live') },
  '/studio/{login}/status': { GET: showStudioStatus },
  '/studio/{login}/channel': { GET: showStudio('channel'), POST: submitStudioChannel },
  '/studio/{login}/key': { POST: submitStudioKey },
  '/studio/{login}/markers': { POST: submitStudioMarker },
  '/studio/{login}/markers/export': { GET: showMarkerFile },
  '/studio/{login}/editors': { GET: showStudio('editors'), POST: submitStudioEditor },
  '/studio/{login}/videos': { GET: showStudio('videos'), POST: submitStudioVideo },
  '/search/suggestions': { GET: showSuggestions },
  '/site/token': { POST: submitToken },
  '/site/broadcast': { GET: showBroadcast },
  '/site/drops-channels': { GET: showDropsChannels },
  '/console': { GET: showConsole },
  '/console/login': { POST: submitConsoleLogin },
  '/console/logout': { POST: submitConsoleLogout },
  '/console/{page}': { GET: showConsole, POST: submitConsole },
  '/games': { GET: showGames },
  '/games/{game_id}': { GET: showGame },
  '/videos/{video_id}': { GET: showVideo },
  '/{login}': { GET: showChannel },
}

const handlers = new Map(
  Object.entries(PAGES).map(([path, byMethod]) => [path, new Map(Object.entries(byMethod))] as const),
)

export { isConsolePath }

/** GET and HEAD, which differ only in the body. */
export function asksToSee(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Whether a request names HTML, as browsers do when a person opens an address. */
export function asksForPage(request: Request): boolean {
  return asksToSee(request.method) && acceptsHtml(request) === 'by name'
}

function findHandler(method: string, path: string): SiteHandler | undefined {
  const page = studioPattern(
    path.replace(/^\/videos\/[^/]+$/, '/videos/{video_id}').replace(/^\/games\/[^/]+$/, '/games/{game_id}'),
  )
  const inConsole = isConsolePath(path) ? handlers.get('/console/{page}') : undefined
  const byMethod =
    handlers.get(page) ??
    inConsole ??
    (parseChannelPath(path) === undefined ? undefined : handlers.get('/{login}'))
  return byMethod?.get(asksToSee(method) ? 'GET' : method)
}

export class Pages {
  readonly #services: SiteServices
  readonly #csrfProofs: Proofs

  constructor(services: SiteServices, ring: KeyRing) {
    this.#services = services
    this.#csrfProofs = new Proofs(ring, 'page-forms')
  }

  /**
   * Whether there may be a page for this request. A program that asks for JSON gets no channel: its path is wrong. At the
   * root, only a request for HTML gets a page; others get what programs always got (D-151).
   */
  has({ request, path }: PageContext): boolean {
    const handler = findHandler(request.method, path)
    if (handler === showHome) return acceptsHtml(request) === 'by name'
    return handler === showChannel ? acceptsHtml(request) !== 'no' : handler !== undefined
  }

  /** Throws what the handler throws; the caller maps it to a problem and passes that to `refuse`. */
  async answer(context: PageContext): Promise<Response> {
    const browser = this.#createBrowser(context)
    const handler = findHandler(browser.method, browser.path)
    if (handler === undefined) throw new Error(`no page for ${browser.method} ${browser.path}`)
    // The console counts what comes without a session.
    if (!isConsolePath(browser.path)) this.#services.limits.takeFromAddress(browser.address)
    return this.#respond(await this.#handle(handler, browser), context, browser)
  }

  /** A page whose data the API refuses, such as an unknown cursor, is refused in the same way. */
  async #handle(handler: SiteHandler, browser: Browser): Promise<PageAnswer> {
    try {
      return await handler(browser, this.#services)
    } catch (error) {
      if (error instanceof StrandError) return apiFailurePage(error)
      throw error
    }
  }

  /** Whether a request for a path without a page is better answered with a page: it names HTML, as browsers do. */
  leads({ request }: PageContext): boolean {
    return asksForPage(request)
  }

  /** The reference of the families that the listener serves to this request. */
  async answerDocs(context: PageContext, families: readonly Family[]): Promise<Response> {
    const isPublic = families.includes('oauth')
    const browser = this.#createBrowser(context)
    const page = await showDocs(browser, this.#services, families)
    return this.#render(page, context, isPublic ? browser : undefined)
  }

  /** The error page for a problem. The store may be the reason for it, so the header names no user. */
  async refuse(context: PageContext, failure: Problem): Promise<Response> {
    const ways = isConsolePath(context.path) ? [{ href: CONSOLE, title: 'Open the console' }] : undefined
    const response = await this.#render(failurePage(failure, context.requestId, ways), context, undefined)
    for (const [name, value] of Object.entries(failure.headers)) response.headers.set(name, value)
    return response
  }

  #createBrowser(context: PageContext): Browser {
    return new Browser(context, { csrfProofs: this.#csrfProofs, publicUrl: this.#services.publicUrl })
  }

  async #respond(answer: PageAnswer, context: PageContext, browser: Browser): Promise<Response> {
    const response = await ('body' in answer ? this.#render(answer, context, browser) : send(answer, context))
    for (const cookie of browser.newCookies) response.headers.append('Set-Cookie', cookie)
    return response
  }

  async #render(page: Page, context: PageContext, browser: Browser | undefined): Promise<Response> {
    const { signUp, siteTokens, bucketUrls } = this.#services
    const isOfOperator = isConsolePath(context.path) || page.listener === 'operator'
    const session = browser && !isOfOperator ? await readSession(browser, this.#services) : undefined
    const here = browser !== undefined && asksToSee(browser.method) ? browser.path : '/'
    const claimable = session === undefined ? 0 : await countClaimable(session.user_id, this.#services)
    const visitor = isOfOperator ? ('operator' as const) : { session, signUp, here, claimable }
    const theme = readTheme(context.request)
    const { html, hasScript } = await renderDocument(page, {
      visitor,
      theme,
      publicUrl: this.#services.publicUrl,
      grant: () =>
        siteTokens.grant({
          session_id: session?.id ?? null,
          scopes: session === undefined ? [] : (page.scopes ?? []),
        }),
    })
    const encoded = page.constantParts?.insertInto(html, context.request)
    const headers = new Headers({
      ...pageHeaders({ hasScript, media: page.media && [...page.media, ...bucketUrls] }),
      ...encoded?.headers,
      'X-Request-Id': context.requestId,
    })
    if (page.retryAfterSeconds !== undefined) headers.set('Retry-After', String(page.retryAfterSeconds))
    return new Response(encoded?.body ?? html, { status: page.status ?? 200, headers })
  }
}

function send(answer: Exclude<PageAnswer, Page>, { requestId }: PageContext): Response {
  const headers = new Headers({ ...pageHeaders({ hasScript: false }), 'X-Request-Id': requestId })
  if ('json' in answer) {
    headers.set('Content-Type', 'application/json')
    return new Response(JSON.stringify(answer.json), { status: answer.status ?? 200, headers })
  }
  if ('file' in answer) {
    const { name, mediaType, content } = answer.file
    headers.set('Content-Type', mediaType)
    headers.set('Content-Disposition', `attachment; filename="${name.replace(/[^A-Za-z0-9._-]/g, '_')}"`)
    return new Response(content, { headers })
  }
  headers.delete('Content-Type')
  headers.set('Location', asHeaderValue(answer.goTo))
  return new Response(null, { status: 302, headers })
}

/** The number in the header of every page: without campaigns it costs nothing, otherwise one indexed query. */
async function countClaimable(user_id: string, { campaigns, store, clock }: SiteServices): Promise<number> {
  if (campaigns.isEmpty) return 0
  return store.dropProgress.countClaimable(user_id, isoMillis(clock.now()))
}

/** A registered redirect URI may contain characters that are invalid in a header; percent-encoding keeps their meaning. */
function asHeaderValue(uri: string): string {
  return uri.toWellFormed().replaceAll(/[^\x21-\x7e]/gu, character => encodeURIComponent(character))
}
