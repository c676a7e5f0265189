/** Log-in, log-out, and sign-up if it is enabled. */
import { type Attempt, countAttempt, givingBackOnFailure } from '../../auth/attempts.ts'
import {
  MAX_PASSWORD_LENGTH,
  MIN_PASSWORD_LENGTH,
  PasswordsBusy,
  passwords,
  type Requester,
} from '../../auth/passwords.ts'
import { isRefusal } from '../../contract/problem.ts'
import { decimalId } from '../../kit/id.ts'
import { toNetwork, toSite } from '../../kit/network.ts'
import type { Page, PageAnswer } from '../render/page.ts'
import { expiredFormPage, problemPage } from '../render/problem-page.tsx'
import { LOCKED_OUT, LOCKED_OUT_SECONDS, withRetryAfter } from '../render/retry-later.ts'
import type { Browser } from '../request/browser.ts'
import {
  logIn,
  type PageHandler,
  type PageServices,
  readSession,
  type SessionServices,
  safeNext,
} from '../request/session.ts'
import { loginPage, signUpPage } from './login-view.tsx'

const LOGIN = /^[a-z0-9_]{1,25}$/

export const showLogin: PageHandler = async (
  browser,
  services: SessionServices & Pick<PageServices, 'signUp'>,
) => {
  const next = safeNext(browser.parameter('next'))
  if ((await readSession(browser, services)) !== undefined) return { goTo: next }
  const done = browser.parameter('done') === 'password' ? 'Your password has been changed.' : undefined
  return loginPage({ csrf: browser.csrfToken(), next, signUp: services.signUp, done })
}

/** Where a new password leads: all sessions have ended. */
export const PASSWORD_CHANGED = '/login?done=password'

const DAY_SECONDS = 24 * 3600

type LoginServices = SessionServices & Pick<PageServices, 'knownBrowsers' | 'logIns' | 'signUp'>

/**
 * Every failed log-in gets the same message, which does not reveal whether the account exists. After too many attempts the
 * account and the network must wait even with the correct password, so that the response reveals nothing. An attempt is
 * counted when the password is checked, not when it is rejected by the queue.
 */
export const submitLogin: PageHandler = async (browser, services: LoginServices) => {
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
  const knownBrowser = known && services.knownBrowsers.findBrowserId(browser.browserCookie, known)
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
  if (opened instanceof PasswordsBusy) return withRetryAfter(again(BUSY, 503), opened.retryAfterSeconds)
  if (opened === 'too_many') return withRetryAfter(again(LOCKED_OUT, 429), LOCKED_OUT_SECONDS)
  if (opened === 'wrong') return again(INCORRECT, 401)
  // Only who knows the password learns of it.
  if (opened.suspended_at !== null) return again(SUSPENDED, 403)
  await endCurrentSession(browser, services)
  const { id, password_hash } = opened
  if (password_hash === null || !(await logIn(browser, services, { id, password_hash })))
    return again(INCORRECT, 401)
  return { goTo: next }
}

const SUSPENDED = 'This account is suspended. Ask the operator of this server about it.'
const INCORRECT = 'Incorrect user name or password.'
export const BUSY = 'Too many passwords are being checked right now. Try again in a few seconds.'

/** The result of work in the password queue, or `PasswordsBusy` if it was rejected. */
export async function unlessBusy<T>(work: () => Promise<T>): Promise<T | PasswordsBusy> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof PasswordsBusy) return error
    throw error
  }
}

/** Where a log-out leads, unless the form names a page: the start page, with a note. */
export const LOGGED_OUT = '/?done=logged-out'

export const submitLogout: PageHandler = async (browser, services: SessionServices) => {
  const form = await browser.form()
  if (form === undefined) return expiredFormPage()
  await endCurrentSession(browser, services)
  browser.forgetSession()
  return { goTo: safeNext(form.get('next') ?? LOGGED_OUT) }
}

async function endCurrentSession(browser: Browser, services: SessionServices): Promise<void> {
  const session = await readSession(browser, services)
  if (session !== undefined)
    await services.store.commands.endSession({ user_id: session.user_id, id: session.id })
}

export const showSignUp: PageHandler = async (browser, { signUp }) => {
  if (!signUp) return signUpClosedPage()
  return signUpPage({ csrf: browser.csrfToken(), next: safeNext(browser.parameter('next')) })
}

type SignUpServices = SessionServices &
  Pick<PageServices, 'knownBrowsers' | 'signUp' | 'signUps' | 'signUpsPerDay' | 'streamKeys'>

export const submitSignUp: PageHandler = async (browser, services: SignUpServices) => {
  if (!services.signUp) return signUpClosedPage()
  const form = await browser.form()
  if (form === undefined) return expiredFormPage()
  const login = (form.get('login') ?? '').trim().toLowerCase()
  const password = form.get('password') ?? ''
  const next = safeNext(form.get('next'))
  const again = (violation: string, status = 400): Page =>
    signUpPage({ csrf: browser.csrfToken(), next, login, violation, status })
  if (!LOGIN.test(login))
    return again('A user name consists of at most 25 lowercase letters, digits and underscores.')
  const violation = passwordViolation(password)
  if (violation !== undefined) return again(violation)
  const attempt: Attempt = [toNetwork(browser.address), browser.address]
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
    return withRetryAfter(again(BUSY, 503), password_hash.retryAfterSeconds)
  if (password_hash === undefined) {
    const tooMany = 'Too many attempts from your network. Wait a few minutes and try again.'
    return withRetryAfter(again(tooMany, 429), LOCKED_OUT_SECONDS)
  }
  if (!(await maySignUp(browser, services))) {
    const tooMany = 'Too many accounts were created from your network today. Try again tomorrow.'
    return withRetryAfter(again(tooMany, 429), Math.ceil(DAY_SECONDS / services.signUpsPerDay))
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
  if (isRefusal(result)) {
    const why = result.problem === 'reserved_login' ? 'reserved' : 'taken'
    return again(`This user name is ${why}. Choose another one.`, 409)
  }
  await logIn(browser, services, { id, password_hash })
  return { goTo: next }
}

/** Accounts do not expire, so sign-ups per network are counted in the store, per day and across all processes. */
async function maySignUp(
  browser: Browser,
  { store, signUpsPerDay }: Pick<PageServices, 'store' | 'signUpsPerDay'>,
): Promise<boolean> {
  if (signUpsPerDay === 0) return true
  const name = `sign-ups from ${toSite(browser.address)}`
  return store.commands.takeFromAll({
    buckets: [{ name, capacity: signUpsPerDay, fullAfterSeconds: DAY_SECONDS }],
  })
}

export function passwordViolation(password: string): string | undefined {
  if (password.length < MIN_PASSWORD_LENGTH)
    return `A password must have at least ${MIN_PASSWORD_LENGTH} characters.`
  return password.length > MAX_PASSWORD_LENGTH
    ? `A password must have at most ${MAX_PASSWORD_LENGTH} characters.`
    : undefined
}

const signUpClosedPage = (): PageAnswer =>
  problemPage(404, 'Sign-up is closed', 'The operator of this server creates the accounts. Ask them for one.')
