/** Logging in and out, and signing up where that is open. */
import { type Attempt, countAttempt, givingBackOnFailure } from '../auth/attempts.ts'
import {
  type Asker,
  LONGEST_PASSWORD,
  PasswordsBusy,
  passwords,
  SHORTEST_PASSWORD,
} from '../auth/passwords.ts'
import { decimalId } from '../kit/id.ts'
import { networkOf, siteOf } from '../kit/network.ts'
import type { Browser } from './browser.ts'
import { logIn, type PageAnswer, type PageHandler, type PageRooms, safeNext, sessionOf } from './house.ts'
import type { Page } from './layout.ts'
import { loginPage, problemPage, signUpPage, strangeForm } from './views.ts'

const LOGIN = /^[a-z0-9_]{1,25}$/

export const showLogin: PageHandler = async (browser, rooms) => {
  const next = safeNext(browser.parameter('next'))
  if ((await sessionOf(browser, rooms)) !== undefined) return { goTo: next }
  return loginPage({ csrf: browser.csrfToken(), next, signUp: rooms.signUp })
}

/** When a locked-out browser or network may try again, about. */
const LOCKED_OUT_SECONDS = 60

/**
 * One sentence for every way to be wrong: nobody learns from it which accounts exist. Where somebody guesses, the account
 * and the network have to wait, also with the right password, so that the answer tells nothing then. The attempt is
 * counted in the turn in which it is checked: one that is not checked is not counted.
 */
export const takeLogin: PageHandler = async (browser, rooms) => {
  const form = await browser.form()
  if (form === undefined) return strangeForm()
  const login = (form.get('login') ?? '').trim().toLowerCase()
  const password = (form.get('password') ?? '').slice(0, LONGEST_PASSWORD + 1)
  const next = safeNext(form.get('next'))
  const again = (complaint: string, status: number): Page =>
    loginPage({ csrf: browser.csrfToken(), next, login, complaint, signUp: rooms.signUp, status })
  const findAccount = async () =>
    LOGIN.test(login) ? await rooms.store.accounts.credentials(login) : undefined
  const known = browser.browserCookie === undefined ? undefined : await findAccount()
  const knownBrowser = known && rooms.knownBrowsers.idOf(browser.browserCookie, known)
  const asker: Asker =
    known === undefined || knownBrowser === undefined
      ? { lane: 'stranger', address: browser.address }
      : { lane: 'known', account: known.id, browser: knownBrowser }
  const attempt: Attempt = [login, browser.address, knownBrowser]
  const opened = await unlessBusy(() =>
    passwords.inTurn(
      asker,
      turn =>
        countAttempt(rooms.logIns, attempt, async () => {
          const account = await findAccount()
          return (await turn.matches(password, account?.password_hash)) ? account : undefined
        }),
      browser,
    ),
  )
  if (opened instanceof PasswordsBusy) return laterPage(again(BUSY, 503), opened.retryAfterSeconds)
  if (opened === 'too_many') return laterPage(again(LOCKED_OUT, 429), LOCKED_OUT_SECONDS)
  if (opened === 'wrong') return again('The user name or the password is wrong.', 401)
  await endPresent(browser, rooms)
  await logIn(browser, rooms, opened)
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

export const takeLogout: PageHandler = async (browser, rooms) => {
  const form = await browser.form()
  if (form === undefined) return strangeForm()
  await endPresent(browser, rooms)
  browser.forgetSession()
  return { goTo: safeNext(form.get('next')) }
}

async function endPresent(browser: Browser, rooms: PageRooms): Promise<void> {
  const session = await sessionOf(browser, rooms)
  if (session !== undefined)
    await rooms.store.commands.endSession({ user_id: session.user_id, id: session.id })
}

export const showSignUp: PageHandler = async (browser, rooms) => {
  if (!rooms.signUp) return closed()
  return signUpPage({ csrf: browser.csrfToken(), next: safeNext(browser.parameter('next')) })
}

export const takeSignUp: PageHandler = async (browser, rooms) => {
  if (!rooms.signUp) return closed()
  const form = await browser.form()
  if (form === undefined) return strangeForm()
  const login = (form.get('login') ?? '').trim().toLowerCase()
  const password = form.get('password') ?? ''
  const next = safeNext(form.get('next'))
  const again = (complaint: string, status = 400): Page =>
    signUpPage({ csrf: browser.csrfToken(), next, login, complaint, status })
  if (!LOGIN.test(login))
    return again('A user name has small letters, digits and underscores, at most 25 of them.')
  const why = wrongWithPassword(password)
  if (why !== undefined) return again(why)
  const attempt: Attempt = [networkOf(browser.address), browser.address]
  const password_hash = await unlessBusy(() =>
    passwords.inTurn(
      { lane: 'stranger', address: browser.address },
      async turn =>
        (await rooms.signUps.begin(...attempt))
          ? givingBackOnFailure(rooms.signUps, attempt, () => turn.hash(password))
          : undefined,
      browser,
    ),
  )
  if (password_hash instanceof PasswordsBusy)
    return laterPage(again(BUSY, 503), password_hash.retryAfterSeconds)
  if (password_hash === undefined) {
    const complaint = 'There were too many attempts from here. Wait some minutes and try again.'
    return laterPage(again(complaint, 429), LOCKED_OUT_SECONDS)
  }
  if (!(await maySignUp(browser, rooms))) {
    return again('Too many accounts were made from your network today. Try again tomorrow.', 429)
  }
  const id = decimalId(rooms.clock.now())
  const result = await givingBackOnFailure(rooms.signUps, attempt, () =>
    rooms.store.commands.putUser({
      id,
      isNew: true,
      login,
      display_name: login,
      password_hash,
      stream_key: rooms.streamKeys.mint(id, 1).stored,
      now: rooms.clock.now(),
    }),
  )
  if (result.outcome !== 'done') return again('This user name is taken. Choose another one.', 409)
  await logIn(browser, rooms, { id, password_hash })
  return { goTo: next }
}

/** Accounts stay for ever, so how many a network makes is counted in the store, for a day and for all processes. */
async function maySignUp(browser: Browser, { store, signUpsPerDay }: PageRooms): Promise<boolean> {
  if (signUpsPerDay === 0) return true
  const name = `sign-ups from ${siteOf(browser.address)}`
  return store.commands.takeFromAll({
    buckets: [{ name, capacity: signUpsPerDay, fullAfterSeconds: 24 * 3600 }],
  })
}

export function wrongWithPassword(password: string): string | undefined {
  if (password.length < SHORTEST_PASSWORD) return `A password has at least ${SHORTEST_PASSWORD} characters.`
  return password.length > LONGEST_PASSWORD
    ? `A password has at most ${LONGEST_PASSWORD} characters.`
    : undefined
}

const closed = (): PageAnswer =>
  problemPage(404, 'Sign-up is closed', 'Whoever runs this server makes the accounts. Ask them for one.')
