/** Sessions, and the types shared by all pages. */
import type { Attempts } from '../../auth/attempts.ts'
import type { SiteTokens } from '../../auth/site-tokens.ts'
import { expiry, hashToken, mintSecret } from '../../auth/tokens.ts'
import type { Proofs } from '../../kit/crypto/signed-text.ts'
import { uuid } from '../../kit/id.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Services } from '../../operations/implement.ts'
import type { Session } from '../../store/queries/accounts.ts'
import type { PageAnswer } from '../render/page.ts'
import type { Browser } from './browser.ts'
import type { Account, KnownBrowsers } from './known-browsers.ts'

export interface PageServices extends Services {
  readonly signUp: boolean
  /** Per network; 0 means no limit. */
  readonly signUpsPerDay: number
  /** Of the device that a user was shown; see `pages/activate.ts`. */
  readonly consentProofs: Proofs
  /** Counts log-in attempts by account and network. */
  readonly logIns: Attempts
  /** Counts new accounts by network. */
  readonly signUps: Attempts
  readonly knownBrowsers: KnownBrowsers
  readonly siteTokens: SiteTokens
  /** Where encoders publish, without the key; undefined without an embedded media server. */
  readonly rtmpUrl: string | undefined
  /** URLs of object storage, which pages that play may read from (D-264). */
  readonly bucketUrls: readonly string[]
  /** Answers a request to the API inside this process, as if it came from this address. */
  readonly callApi: (request: Request, address: string) => Response | Promise<Response>
}

export type SessionServices = Pick<PageServices, 'store' | 'clock' | 'lifetimes'>

export type PageHandler<S = PageServices> = (browser: Browser, services: S) => Promise<PageAnswer>

/** How often the store records that a session is in use. */
const RENEWAL_MILLISECONDS = 3600 * 1000

/** Looked up once per request: the header of a page needs it as well as the handler. */
const found = new WeakMap<Browser, Promise<Session | undefined>>()

/** The session of this browser, if it is valid. */
export function readSession(browser: Browser, services: SessionServices): Promise<Session | undefined> {
  const session = found.get(browser) ?? findSession(browser, services)
  found.set(browser, session)
  return session
}

async function findSession(
  browser: Browser,
  { store, clock, lifetimes }: SessionServices,
): Promise<Session | undefined> {
  const secret = browser.sessionSecret
  if (secret === undefined) return undefined
  const now = clock.now()
  const hash = hashToken(secret)
  const session = await store.accounts.session(hash, isoMillis(now))
  if (session !== undefined && Date.parse(session.seen_at) < now - RENEWAL_MILLISECONDS) {
    await store.commands.keepSession({
      hash,
      now: isoMillis(now),
      expires_at: expiry(now, lifetimes.session_seconds),
    })
    browser.rememberSession(secret, lifetimes.session_seconds)
  }
  return session
}

/**
 * Logs the user in with a fresh session, never one that the browser presented. False: the password is no longer that of the
 * account.
 */
export async function logIn(
  browser: Browser,
  { store, clock, lifetimes, knownBrowsers }: SessionServices & Pick<PageServices, 'knownBrowsers'>,
  account: Account & { readonly password_hash: string },
): Promise<boolean> {
  const secret = mintSecret('session')
  const now = clock.now()
  const refused = await store.commands.startSession({
    session: {
      hash: hashToken(secret),
      id: uuid(),
      user_id: account.id,
      expires_at: expiry(now, lifetimes.session_seconds),
      browser: browser.name,
    },
    password_hash: account.password_hash,
    now: isoMillis(now),
  })
  if (refused !== undefined) return false
  browser.rememberSession(secret, lifetimes.session_seconds)
  browser.rememberBrowser(knownBrowsers.remember(browser.browserCookie, account))
  return true
}

/** The path to continue to after log-in; always on this server. */
export function safeNext(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/account'
}
