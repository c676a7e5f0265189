/**
 * A page request: cookies, query parameters, and the form with its CSRF check. All text is validated by `PageFields`, which
 * throws a problem for invalid input. The cookies are all `__Host-`: only this host sets and reads them, and only over
 * an encrypted connection. The one exception is no secret: it has the language of examples, and a script sets it.
 */
import { raise } from '../../contract/problem.ts'
import type { Proofs } from '../../kit/crypto/signed-text.ts'
import { randomAlphanumerics } from '../../kit/id.ts'
import { readBody } from '../../kit/read-body.ts'
import type { Pairs } from '../../kit/text.ts'
import { LANGUAGE_COOKIE } from '../docs/language-cookie.ts'
import type { Theme } from '../render/page.ts'
import { type FieldName, PageFields, readPairs } from './fields.ts'

const SESSION_COOKIE = '__Host-strand-session'
const FORM_COOKIE = '__Host-strand-form'
/** Of the operator console; not sent with requests from other sites, not even by following a link. */
const CONSOLE_COOKIE = '__Host-strand-console'
/** Kept after log-out: see known-browsers.ts. */
const BROWSER_COOKIE = '__Host-strand-browser'
/** How the site looks in this browser; absent: as the system does. */
const THEME_COOKIE = '__Host-strand-theme'
const THEME_COOKIE_SECONDS = 400 * 24 * 3600
const BROWSER_COOKIE_SECONDS = 180 * 24 * 3600
const COOKIE_VALUE = /^(?:[A-Za-z0-9_]{20,256}|light|dark)$/
const LANGUAGE = new RegExp(`(?:^|; ?)${LANGUAGE_COOKIE}=([a-z]{1,20})(?:;|$)`)
const FORM_LIMITS = { bytes: 64 * 1024, milliseconds: 10_000 }
const FORM_TYPE = 'application/x-www-form-urlencoded'

/** The parts of a request that the pages need. */
export interface PageContext {
  readonly request: Request
  readonly path: string
  readonly search: string
  readonly address: () => string
  readonly requestId: string
  /** Extends the idle timeout of the connection, for long work. */
  readonly holdOpen?: () => void
}

/** Whether a request asks for a page: by name, or because it asks for nothing in particular. */
export function acceptsHtml({ headers }: Request): 'by name' | 'also' | 'no' {
  const accept = headers.get('accept') ?? ''
  if (accept.includes('text/html')) return 'by name'
  return accept.includes('application/json') ? 'no' : 'also'
}

/** The theme that was chosen in this browser. */
export function readTheme({ headers }: Request): Theme | undefined {
  const theme = readCookies(headers.get('cookie') ?? '').get(THEME_COOKIE)
  return theme === 'light' || theme === 'dark' ? theme : undefined
}

export class Browser {
  readonly method: string
  readonly path: string
  /** The query string, without its question mark. */
  readonly search: string
  readonly parameters: PageFields
  readonly address: string
  /** From the User-Agent, for the user to recognise. */
  readonly name: string
  readonly holdOpen: () => void
  readonly #request: Request
  readonly #cookies: ReadonlyMap<string, string>
  readonly #csrfProofs: Proofs
  readonly #publicUrl: string
  readonly #newCookies: string[] = []
  #formSecret: string | undefined

  constructor(
    { request, path, search, address, holdOpen }: PageContext,
    { csrfProofs, publicUrl }: { csrfProofs: Proofs; publicUrl: string },
  ) {
    this.method = request.method
    this.path = path
    this.search = search
    this.parameters = PageFields.ofQuery(search)
    this.address = address()
    this.name = browserName(request.headers.get('user-agent') ?? '')
    this.holdOpen = () => holdOpen?.()
    this.#request = request
    this.#cookies = readCookies(request.headers.get('cookie') ?? '')
    this.#csrfProofs = csrfProofs
    this.#publicUrl = publicUrl
    this.#formSecret = this.#cookies.get(FORM_COOKIE)
  }

  /** The path and query string of this page, to return to after log-in. */
  get here(): string {
    return this.search === '' ? this.path : `${this.path}?${this.search}`
  }

  get sessionSecret(): string | undefined {
    return this.#cookies.get(SESSION_COOKIE)
  }

  get theme(): Theme | undefined {
    return readTheme(this.#request)
  }

  /** Marks of the accounts used in this browser; read by `KnownBrowsers`. */
  get browserCookie(): string | undefined {
    return this.#cookies.get(BROWSER_COOKIE)
  }

  /** The sealed session of the operator console; read by `OperatorSessions`. */
  get consoleCookie(): string | undefined {
    return this.#cookies.get(CONSOLE_COOKIE)
  }

  /** The language in which the reader of the reference wants examples; any word. */
  get exampleLanguage(): string | undefined {
    return LANGUAGE.exec(this.#request.headers.get('cookie') ?? '')?.[1]
  }

  /** Aborted if the client disconnects. */
  get signal(): AbortSignal {
    return this.#request.signal
  }

  /** Whether the request names HTML, as those of browsers do. */
  get prefersHtml(): boolean {
    return acceptsHtml(this.#request) === 'by name'
  }

  /** The `Set-Cookie` headers of the response. */
  get newCookies(): readonly string[] {
    return this.#newCookies
  }

  /** A parameter of the query string. */
  parameter(name: FieldName): string | undefined {
    return this.parameters.get(name)
  }

  /** The CSRF token for forms shown to this browser. */
  csrfToken(): string {
    if (this.#formSecret === undefined) {
      this.#formSecret = randomAlphanumerics(32)
      this.#setCookie(FORM_COOKIE, this.#formSecret, undefined)
    }
    return this.#csrfProofs.of(this.#formSecret)
  }

  /** The fields of a form; undefined if it was not sent from a page of this server. */
  async form(): Promise<PageFields | undefined> {
    const fields = await this.sameOriginForm()
    if (fields === undefined) return undefined
    const secret = this.#formSecret
    const isValid = secret !== undefined && this.#csrfProofs.verifies(secret, fields.get('csrf') ?? '')
    return isValid ? fields : undefined
  }

  /** The fields of a form that carries another proof than the CSRF token. */
  async sameOriginForm(): Promise<PageFields | undefined> {
    const pairs = await this.sameOriginPairs()
    return pairs && new PageFields(pairs)
  }

  /** The same with fields that are inputs of an operation, which validates them. Those that pages know are checked here too. */
  async sameOriginPairs(): Promise<Pairs | undefined> {
    const { headers } = this.#request
    const site = headers.get('sec-fetch-site')
    if (site !== null && site !== 'same-origin') return undefined
    const origin = headers.get('origin')
    if (origin !== null && !this.#isSameHost(origin)) return undefined
    if (!headers.get('content-type')?.toLowerCase().startsWith(FORM_TYPE)) return undefined
    const pairs = await this.#readForm()
    new PageFields(pairs)
    return pairs
  }

  async #readForm(): Promise<Pairs> {
    const read = await readBody(this.#request, FORM_LIMITS)
    if (read.outcome === 'complete') return readPairs(read.bytes)
    return read.outcome === 'too_large' ? raise('body_too_large', FORM_LIMITS.bytes) : raise('malformed_form')
  }

  rememberSession(secret: string, seconds: number): void {
    this.#setCookie(SESSION_COOKIE, secret, seconds)
  }

  rememberBrowser(cookie: string): void {
    this.#setCookie(BROWSER_COOKIE, cookie, BROWSER_COOKIE_SECONDS)
  }

  /** Undefined: as the system does. */
  rememberTheme(theme: Theme | undefined): void {
    this.#setCookie(THEME_COOKIE, theme ?? '', theme === undefined ? 0 : THEME_COOKIE_SECONDS)
  }

  forgetSession(): void {
    this.#setCookie(SESSION_COOKIE, '', 0)
  }

  rememberConsole(cookie: string): void {
    this.#setCookie(CONSOLE_COOKIE, cookie, undefined, 'Strict')
  }

  forgetConsole(): void {
    this.#setCookie(CONSOLE_COOKIE, '', 0, 'Strict')
  }

  /** Behind a proxy, the Host header may differ from the public host name. */
  #isSameHost(origin: string): boolean {
    return (
      parseHost(origin) === this.#request.headers.get('host') ||
      parseHost(origin) === parseHost(this.#publicUrl)
    )
  }

  #setCookie(
    name: string,
    value: string,
    seconds: number | undefined,
    sameSite: 'Lax' | 'Strict' = 'Lax',
  ): void {
    const age = seconds === undefined ? '' : `; Max-Age=${seconds}`
    this.#newCookies.push(`${name}=${value}; Path=/; Secure; HttpOnly; SameSite=${sameSite}${age}`)
  }
}

function readCookies(header: string): Map<string, string> {
  const cookies = new Map<string, string>()
  for (const each of header.split(';')) {
    const equals = each.indexOf('=')
    const value = each.slice(equals + 1).trim()
    if (equals > 0 && COOKIE_VALUE.test(value)) cookies.set(each.slice(0, equals).trim(), value)
  }
  return cookies
}

function parseHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

const BROWSERS = ['Firefox', 'Edg', 'OPR', 'Chrome', 'Safari'] as const
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'Linux'] as const
const DISPLAY_NAMES: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera', 'Mac OS': 'macOS' }

function browserName(userAgent: string): string {
  const browser = BROWSERS.find(name => userAgent.includes(name))
  const system = SYSTEMS.find(name => userAgent.includes(name))
  if (browser === undefined) return 'Unknown browser'
  return `${DISPLAY_NAMES[browser] ?? browser}${system === undefined ? '' : ` on ${DISPLAY_NAMES[system] ?? system}`}`
}
