/** The page where a person looks after their account. */
import { type Attempt, countAttempt } from '../auth/attempts.ts'
import { PasswordsBusy, passwords } from '../auth/passwords.ts'
import { isoMillis } from '../kit/clock.ts'
import type { Session } from '../store/queries/accounts.ts'
import type { Browser } from './browser.ts'
import type { PageFields } from './fields.ts'
import { type PageAnswer, type PageHandler, type PageRooms, sessionOf } from './house.ts'
import type { Page } from './layout.ts'
import { BUSY, LOCKED_OUT, laterPage, unlessBusy, wrongWithPassword } from './login.ts'
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
): Promise<Page> {
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

/** Whoever is logged in is counted by their session: those who guess at the account elsewhere cannot lock them out of it. */
export const takePassword = withForm(async (form, session, browser, rooms) => {
  const complain = (complaint: string) => present(browser, rooms, session, { complaint })
  const password = form.get('password') ?? ''
  const why = wrongWithPassword(password)
  const sessionName = `session-${session.id}`
  const attempt: Attempt = [session.login, browser.address, sessionName]
  const changed = await unlessBusy(() =>
    passwords.inTurn(
      { lane: 'known', account: session.user_id, browser: sessionName },
      async turn => {
        const right = await countAttempt(rooms.logIns, attempt, async () => {
          const account = await rooms.store.accounts.credentials(session.login)
          return (await turn.matches(form.get('current') ?? '', account?.password_hash)) ? true : undefined
        })
        if (right !== true) return right
        return why === undefined ? { password_hash: await turn.hash(password) } : 'unfit'
      },
      browser,
    ),
  )
  if (changed instanceof PasswordsBusy)
    return laterPage({ ...(await complain(BUSY)), status: 503 }, changed.retryAfterSeconds)
  if (changed === 'too_many') return complain(LOCKED_OUT)
  if (changed === 'wrong') return complain('The current password is wrong. Nothing was changed.')
  if (changed === 'unfit') return complain(`${why} Nothing was changed.`)
  const { password_hash } = changed
  await rooms.store.commands.changePassword({ user_id: session.user_id, password_hash, keep: session.id })
  browser.rememberBrowser(
    rooms.knownBrowsers.remember(browser.browserCookie, { id: session.user_id, password_hash }),
  )
  return { goTo: '/account?done=password' }
})
