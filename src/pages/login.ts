/** Logging in and out, and signing up where that is open. */
import {
  hashPassword,
  isPassword,
  LONGEST_PASSWORD,
  SHORTEST_PASSWORD,
  TooManyPasswords,
} from '../auth/passwords.ts'
import { decimalId } from '../kit/id.ts'
import { siteOf } from '../kit/network.ts'
import type { Browser } from './browser.ts'
import { logIn, type PageAnswer, type PageHandler, type PageRooms, safeNext, sessionOf } from './house.ts'
import { loginPage, problemPage, signUpPage, strangeForm } from './views.ts'

const LOGIN = /^[a-z0-9_]{1,25}$/

export const showLogin: PageHandler = async (browser, rooms) => {
  const next = safeNext(browser.parameter('next'))
  if ((await sessionOf(browser, rooms)) !== undefined) return { goTo: next }
  return loginPage({ csrf: browser.csrfToken(), next, signUp: rooms.signUp })
}

/**
 * One sentence for every way to be wrong: nobody learns from it which accounts exist. Where somebody guesses, the account
 * and the address have to wait, also with the right password, so that the answer tells nothing then.
 */
export const takeLogin: PageHandler = async (browser, rooms) => {
  const form = await browser.form()
  if (form === undefined) return strangeForm()
  const login = (form.get('login') ?? '').trim().toLowerCase()
  const next = safeNext(form.get('next'))
  const again = (complaint: string, status: number): PageAnswer =>
    loginPage({ csrf: browser.csrfToken(), next, login, complaint, signUp: rooms.signUp, status })
  const subject = `login ${login}`
  if (!(await rooms.attempts.begin(subject, browser.address))) {
    return again('There were too many wrong attempts. Wait some minutes and try again.', 429)
  }
  const account = LOGIN.test(login) ? await rooms.store.accounts.credentials(login) : undefined
  const password = (form.get('password') ?? '').slice(0, LONGEST_PASSWORD + 1)
  try {
    if (!(await isPassword(password, account?.password_hash)) || account === undefined) {
      return again('The user name or the password is wrong.', 401)
    }
  } catch (error) {
    if (error instanceof TooManyPasswords)
      return again('Too many people are logging in. Try again shortly.', 503)
    throw error
  }
  await rooms.attempts.succeeded(subject, browser.address)
  await endPresent(browser, rooms)
  await logIn(browser, rooms, account.id)
  return { goTo: next }
}

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
  const again = (complaint: string, status = 400): PageAnswer =>
    signUpPage({ csrf: browser.csrfToken(), next, login, complaint, status })
  if (!LOGIN.test(login))
    return again('A user name has small letters, digits and underscores, at most 25 of them.')
  const why = wrongWithPassword(password)
  if (why !== undefined) return again(why)
  if (!(await rooms.attempts.begin(`sign up ${browser.address}`, browser.address))) {
    return again('There were too many attempts from here. Wait some minutes and try again.', 429)
  }
  if (!(await maySignUp(browser, rooms))) {
    return again('Too many accounts were made from your network today. Try again tomorrow.', 429)
  }
  const id = decimalId(rooms.clock.now())
  const result = await rooms.store.commands.putUser({
    id,
    isNew: true,
    login,
    display_name: login,
    password_hash: await hashPassword(password),
    stream_key: rooms.streamKeys.mint(id, 1).stored,
    now: rooms.clock.now(),
  })
  if (result.outcome !== 'done') return again('This user name is taken. Choose another one.', 409)
  await logIn(browser, rooms, id)
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
