/** The page where a person looks after their account. */
import { type Attempt, countAttempt } from '../auth/attempts.ts'
import { PasswordsBusy, passwords } from '../auth/passwords.ts'
import { isoMillis } from '../kit/clock.ts'
import type { Session } from '../store/queries/accounts.ts'
import type { Browser } from './browser.ts'
import type { PageFields } from './fields.ts'
import type { Page } from './layout.ts'
import { BUSY, LOCKED_OUT, laterPage, unlessBusy, wrongWithPassword } from './login.ts'
import { type PageAnswer, type PageHandler, type PageServices, sessionOf } from './session.ts'
import { accountPage, expiredFormPage } from './views.ts'

const toLogin: PageAnswer = { goTo: '/login?next=/account' }

/** What was done is told once, after the way back to the page. */
const DONE: ReadonlyMap<string, string> = new Map([
  ['disconnected', 'The application is disconnected: its tokens are no longer good.'],
  ['ended', 'That browser is logged out.'],
  ['password', 'Your password is changed.'],
])

export const showAccount: PageHandler = async (browser, services) => {
  const session = await sessionOf(browser, services)
  if (session === undefined) return toLogin
  return present(browser, services, session, { done: DONE.get(browser.parameter('done') ?? '') })
}

async function present(
  browser: Browser,
  { store, clock }: PageServices,
  session: Session,
  said: { readonly done?: string | undefined; readonly violation?: string | undefined },
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
    act: (
      form: PageFields,
      session: Session,
      browser: Browser,
      services: PageServices,
    ) => Promise<PageAnswer>,
  ): PageHandler =>
  async (browser, services) => {
    const form = await browser.form()
    if (form === undefined) return expiredFormPage()
    const session = await sessionOf(browser, services)
    return session === undefined ? toLogin : act(form, session, browser, services)
  }

export const submitDisconnect = withForm(async (form, { user_id }, _browser, { store }) => {
  await store.commands.disconnect({ user_id, client_id: form.get('client_id') ?? '' })
  return { goTo: '/account?done=disconnected' }
})

export const submitEndSession = withForm(async (form, session, browser, { store }) => {
  const id = form.get('session_id') ?? ''
  await store.commands.endSession({ user_id: session.user_id, id })
  if (id !== session.id) return { goTo: '/account?done=ended' }
  browser.forgetSession()
  return { goTo: '/login' }
})

/** Whoever is logged in is counted by their session: those who guess at the account elsewhere cannot lock them out of it. */
export const submitPassword = withForm(async (form, session, browser, services) => {
  const reject = (violation: string) => present(browser, services, session, { violation })
  const password = form.get('password') ?? ''
  const why = wrongWithPassword(password)
  const sessionName = `session-${session.id}`
  const attempt: Attempt = [session.login, browser.address, sessionName]
  const changed = await unlessBusy(() =>
    passwords.inTurn(
      { lane: 'known', account: session.user_id, browser: sessionName },
      async turn => {
        const right = await countAttempt(services.logIns, attempt, async () => {
          const account = await services.store.accounts.credentials(session.login)
          return (await turn.matches(form.get('current') ?? '', account?.password_hash)) ? true : undefined
        })
        if (right !== true) return right
        return why === undefined ? { password_hash: await turn.hash(password) } : 'unfit'
      },
      browser,
    ),
  )
  if (changed instanceof PasswordsBusy)
    return laterPage({ ...(await reject(BUSY)), status: 503 }, changed.retryAfterSeconds)
  if (changed === 'too_many') return reject(LOCKED_OUT)
  if (changed === 'wrong') return reject('The current password is wrong. Nothing was changed.')
  if (changed === 'unfit') return reject(`${why} Nothing was changed.`)
  const { password_hash } = changed
  await services.store.commands.changePassword({ user_id: session.user_id, password_hash, keep: session.id })
  browser.rememberBrowser(
    services.knownBrowsers.remember(browser.browserCookie, { id: session.user_id, password_hash }),
  )
  return { goTo: '/account?done=password' }
})
