/** What the pages share: who is logged in, and what an answer looks like. */
import type { Attempts } from '../auth/attempts.ts'
import { expiry, hashOf, mintSecret } from '../auth/tokens.ts'
import { isoMillis } from '../kit/clock.ts'
import { uuid } from '../kit/id.ts'
import type { Services } from '../operations/implement.ts'
import type { Session } from '../store/queries/accounts.ts'
import type { Browser } from './browser.ts'
import type { Account, KnownBrowsers } from './known-browsers.ts'
import type { Page } from './layout.ts'

export interface PageServices extends Services {
  readonly signUp: boolean
  /** From one network; 0 for no limit. */
  readonly signUpsPerDay: number
  /** Keys for the proof that a consent is about the device that was shown, newest first. */
  readonly consentKeys: () => readonly Uint8Array[]
  /** Counts attempts to log in by account and network. */
  readonly logIns: Attempts
  /** Counts new accounts by network. */
  readonly signUps: Attempts
  readonly knownBrowsers: KnownBrowsers
}

/** A page, or somewhere else to go. */
export type PageAnswer = Page | { readonly goTo: string }

export type PageHandler = (browser: Browser, services: PageServices) => Promise<PageAnswer>

/** How often the store is told that a session is in use. */
const NOTED_MILLISECONDS = 3600 * 1000

/** The session of this browser, if it is good. */
export async function sessionOf(
  browser: Browser,
  { store, clock, lifetimes }: PageServices,
): Promise<Session | undefined> {
  const secret = browser.sessionSecret
  if (secret === undefined) return undefined
  const now = clock.now()
  const hash = hashOf(secret)
  const session = await store.accounts.session(hash, isoMillis(now))
  if (session !== undefined && Date.parse(session.seen_at) < now - NOTED_MILLISECONDS) {
    await store.commands.keepSession({
      hash,
      now: isoMillis(now),
      expires_at: expiry(now, lifetimes.session_seconds),
    })
    browser.rememberSession(secret, lifetimes.session_seconds)
  }
  return session
}

/** Logs a person in in this browser, with a session that nobody has seen before. */
export async function logIn(
  browser: Browser,
  { store, clock, lifetimes, knownBrowsers }: PageServices,
  account: Account,
): Promise<void> {
  const secret = mintSecret('session')
  const now = clock.now()
  await store.commands.startSession({
    session: {
      hash: hashOf(secret),
      id: uuid(),
      user_id: account.id,
      expires_at: expiry(now, lifetimes.session_seconds),
      browser: browser.name,
    },
    now: isoMillis(now),
  })
  browser.rememberSession(secret, lifetimes.session_seconds)
  browser.rememberBrowser(knownBrowsers.remember(browser.browserCookie, account))
}

/** Where a person was going: a path on this server and nowhere else. */
export function safeNext(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/account'
}
