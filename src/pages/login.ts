/** Logging in and out, and signing up where that is open. */
import { type Attempt, countAttempt, givingBackOnFailure } from '../auth/attempts.ts'
import {
  MAX_PASSWORD_LENGTH,
  MIN_PASSWORD_LENGTH,
  PasswordsBusy,
  passwords,
  type Requester,
} from '../auth/passwords.ts'
import { isRefusal } from '../contract/problem.ts'
import { decimalId } from '../kit/id.ts'
import { networkOf, siteOf } from '../kit/network.ts'
import type { Browser } from './browser.ts'
import type { Page } from './layout.ts'
import {
  logIn,
  type PageAnswer,
  type PageHandler,
  type PageServices,
  safeNext,
  sessionOf,
} from './session.ts'
import { expiredFormPage, loginPage, problemPage, signUpPage } from './views.ts'

const LOGIN = /^[a-z0-9_]{1,25}$/

export const showLogin: PageHandler = async (browser, services) => {
  const next = safeNext(browser.parameter('next'))
  if ((await sessionOf(browser, services)) !== undefined) return { goTo: next }
  return loginPage({ csrf: browser.csrfToken(), next, signUp: services.signUp })
}

/** When a locked-out browser or network may try again, about. */
const LOCKED_OUT_SECONDS = 60

/**
 * One sentence for every way to be wrong: nobody learns from it which accounts exist. Where somebody guesses, the account
 * and the network have to wait, also with the right password, so that the answer tells nothing then. The attempt is
 * counted in the turn in which it is checked: one that is not checked is not counted.
 */
export const submitLogin: PageHandler = async (browser, services) => {
  const form = await browser.form()
  if (form === undefined) return expiredFormPage()
  const login = (form.get('login') ?? '').trim().toLowerCase()
  const password = (form.get('password') ?? '').slice(0, MAX_PASSWORD_LENGTH + 1)
  const next = safeNext(form.get('next'))
  const again = (violation: string, status: number): Page =>
    loginPage({ csrf: browser.csrfToken(), next, login, violation, signUp: services.signUp, status })
  const findAccount = async () =>
    LOGIN.test(login) ? await services.store.accounts.credentials(login) : undefined
  const known = browser.browserCookie === undefined ? undefined : await findAccount()
  const knownBrowser = known && services.knownBrowsers.idOf(browser.browserCookie, known)
  const requester: Requester =
    known === undefined || knownBrowser === undefined
      ? { lane: 'stranger', address: browser.address }
      : { lane: 'known', account: known.id, browser: knownBrowser }
  const attempt: Attempt = [login, browser.address, knownBrowser]
  const opened = await unlessBusy(() =>
    passwords.inTurn(
      requester,
      turn =>
        countAttempt(services.logIns, attempt, async () => {
          const account = await findAccount()
          return (await turn.matches(password, account?.password_hash)) ? account : undefined
        }),
      browser,
    ),
  )
  if (opened instanceof PasswordsBusy) return laterPage(again(BUSY, 503), opened.retryAfterSeconds)
  if (opened === 'too_many') return laterPage(again(LOCKED_OUT, 429), LOCKED_OUT_SECONDS)
  if (opened === 'wrong') return again('The user name or the password is wrong.', 401)
  await endPresent(browser, services)
  await logIn(browser, services, opened)
  return { goTo: next }
}

export const BUSY = 'Too many passwords are being checked right now. Try again in a few seconds.'
export const LOCKED_OUT = 'There were too many wrong attempts. Wait some minutes and try again.'

/** What came of work in the queue of passwords, or that it was not begun. */
export async function unlessBusy<T>(work: () => Promise<T>): Promise<T | PasswordsBusy> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof PasswordsBusy) return error
    throw error
  }
}

/** The same page, with the time after which to try again. */
export const laterPage = (page: Page, retryAfterSeconds: number): Page => ({ ...page, retryAfterSeconds })

export const submitLogout: PageHandler = async (browser, services) => {
  const form = await browser.form()
  if (form === undefined) return expiredFormPage()
  await endPresent(browser, services)
  browser.forgetSession()
  return { goTo: safeNext(form.get('next')) }
}

async function endPresent(browser: Browser, services: PageServices): Promise<void> {
  const session = await sessionOf(browser, services)
  if (session !== undefined)
    await services.store.commands.endSession({ user_id: session.user_id, id: session.id })
}

export const showSignUp: PageHandler = async (browser, services) => {
  if (!services.signUp) return closed()
  return signUpPage({ csrf: browser.csrfToken(), next: safeNext(browser.parameter('next')) })
}

export const submitSignUp: PageHandler = async (browser, services) => {
  if (!services.signUp) return closed()
  const form = await browser.form()
  if (form === undefined) return expiredFormPage()
  const login = (form.get('login') ?? '').trim().toLowerCase()
  const password = form.get('password') ?? ''
  const next = safeNext(form.get('next'))
  const again = (violation: string, status = 400): Page =>
    signUpPage({ csrf: browser.csrfToken(), next, login, violation, status })
  if (!LOGIN.test(login))
    return again('A user name has small letters, digits and underscores, at most 25 of them.')
  const why = wrongWithPassword(password)
  if (why !== undefined) return again(why)
  const attempt: Attempt = [networkOf(browser.address), browser.address]
  const password_hash = await unlessBusy(() =>
    passwords.inTurn(
      { lane: 'stranger', address: browser.address },
      async turn =>
        (await services.signUps.begin(...attempt))
          ? givingBackOnFailure(services.signUps, attempt, () => turn.hash(password))
          : undefined,
      browser,
    ),
  )
  if (password_hash instanceof PasswordsBusy)
    return laterPage(again(BUSY, 503), password_hash.retryAfterSeconds)
  if (password_hash === undefined) {
    const violation = 'There were too many attempts from here. Wait some minutes and try again.'
    return laterPage(again(violation, 429), LOCKED_OUT_SECONDS)
  }
  if (!(await maySignUp(browser, services))) {
    return again('Too many accounts were made from your network today. Try again tomorrow.', 429)
  }
  const id = decimalId(services.clock.now())
  const result = await givingBackOnFailure(services.signUps, attempt, () =>
    services.store.commands.putUser({
      id,
      isNew: true,
      login,
      display_name: login,
      password_hash,
      stream_key: services.streamKeys.mint(id, 1).stored,
      now: services.clock.now(),
    }),
  )
  if (isRefusal(result)) return again('This user name is taken. Choose another one.', 409)
  await logIn(browser, services, { id, password_hash })
  return { goTo: next }
}

/** Accounts stay for ever, so how many a network makes is counted in the store, for a day and for all processes. */
async function maySignUp(browser: Browser, { store, signUpsPerDay }: PageServices): Promise<boolean> {
  if (signUpsPerDay === 0) return true
  const name = `sign-ups from ${siteOf(browser.address)}`
  return store.commands.takeFromAll({
    buckets: [{ name, capacity: signUpsPerDay, fullAfterSeconds: 24 * 3600 }],
  })
}

export function wrongWithPassword(password: string): string | undefined {
  if (password.length < MIN_PASSWORD_LENGTH)
    return `A password has at least ${MIN_PASSWORD_LENGTH} characters.`
  return password.length > MAX_PASSWORD_LENGTH
    ? `A password has at most ${MAX_PASSWORD_LENGTH} characters.`
    : undefined
}

const closed = (): PageAnswer =>
  problemPage(404, 'Sign-up is closed', 'Whoever runs this server makes the accounts. Ask them for one.')
