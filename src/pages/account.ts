/** The page where a person looks after their account. */
import { hashPassword, isPassword } from '../auth/passwords.ts'
import { isoMillis } from '../kit/clock.ts'
import type { Session } from '../store/queries/accounts.ts'
import type { Browser } from './browser.ts'
import type { PageFields } from './fields.ts'
import { type PageAnswer, type PageHandler, type PageRooms, sessionOf } from './house.ts'
import { wrongWithPassword } from './login.ts'
import { accountPage, strangeForm } from './views.ts'

const toLogin: PageAnswer = { goTo: '/login?next=/account' }

/** What was done is told once, after the way back to the page. */
const DONE: ReadonlyMap<string, string> = new Map([
  ['disconnected', 'The application is disconnected: its tokens are no longer good.'],
  ['ended', 'That browser is logged out.'],
  ['password', 'Your password is changed.'],
])

export const showAccount: PageHandler = async (browser, rooms) => {
  const session = await sessionOf(browser, rooms)
  if (session === undefined) return toLogin
  return present(browser, rooms, session, { done: DONE.get(browser.parameter('done') ?? '') })
}

async function present(
  browser: Browser,
  { store, clock }: PageRooms,
  session: Session,
  said: { readonly done?: string | undefined; readonly complaint?: string | undefined },
): Promise<PageAnswer> {
  const sessions = await store.accounts.sessionsOf(session.user_id, isoMillis(clock.now()))
  return accountPage({
    csrf: browser.csrfToken(),
    display_name: session.display_name,
    login: session.login,
    connections: await store.accounts.connectionsOf(session.user_id),
    sessions: sessions.map(each => ({ ...each, isThis: each.id === session.id })),
    ...said,
  })
}

/** A form of the account page, from the person whose account it is. */
const withForm =
  (
    act: (form: PageFields, session: Session, browser: Browser, rooms: PageRooms) => Promise<PageAnswer>,
  ): PageHandler =>
  async (browser, rooms) => {
    const form = await browser.form()
    if (form === undefined) return strangeForm()
    const session = await sessionOf(browser, rooms)
    return session === undefined ? toLogin : act(form, session, browser, rooms)
  }

export const takeDisconnect = withForm(async (form, { user_id }, _browser, { store }) => {
  await store.commands.disconnect({ user_id, client_id: form.get('client_id') ?? '' })
  return { goTo: '/account?done=disconnected' }
})

export const takeEndSession = withForm(async (form, session, browser, { store }) => {
  const id = form.get('session_id') ?? ''
  await store.commands.endSession({ user_id: session.user_id, id })
  if (id !== session.id) return { goTo: '/account?done=ended' }
  browser.forgetSession()
  return { goTo: '/login' }
})

export const takePassword = withForm(async (form, session, browser, rooms) => {
  const { store, attempts } = rooms
  const subject = `login ${session.login}`
  const complain = (complaint: string) => present(browser, rooms, session, { complaint })
  if (!(await attempts.begin(subject, browser.address))) {
    return complain('There were too many wrong attempts. Wait some minutes and try again.')
  }
  const account = await store.accounts.credentials(session.login)
  if (!(await isPassword(form.get('current') ?? '', account?.password_hash))) {
    return complain('The current password is wrong. Nothing was changed.')
  }
  await attempts.succeeded(subject, browser.address)
  const password = form.get('password') ?? ''
  const why = wrongWithPassword(password)
  if (why !== undefined) return complain(`${why} Nothing was changed.`)
  await store.commands.changePassword({
    user_id: session.user_id,
    password_hash: await hashPassword(password),
    keep: session.id,
  })
  return { goTo: '/account?done=password' }
})
