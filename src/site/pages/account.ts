/** The account page: profile, appearance, sessions, connected applications, password. */
import { type Attempt, countAttempt } from '../../auth/attempts.ts'
import { PasswordsBusy, passwords } from '../../auth/passwords.ts'
import { parseProfileLink } from '../../domain/profile-link.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Session } from '../../store/queries/accounts.ts'
import type { Page, PageAnswer } from '../render/page.ts'
import { expiredFormPage } from '../render/problem-page.tsx'
import { LOCKED_OUT, withRetryAfter } from '../render/retry-later.ts'
import type { Browser } from '../request/browser.ts'
import type { PageFields } from '../request/fields.ts'
import { type PageHandler, type PageServices, readSession, type SessionServices } from '../request/session.ts'
import { accountPage } from './account-view.tsx'
import { LINK_FIELDS } from './link-fields.ts'
import { BUSY, LOGGED_OUT, passwordViolation, unlessBusy } from './login.ts'

const toLogin: PageAnswer = { goTo: '/login?next=/account' }

/** Confirmations, shown once after the redirect back to the page. */
const DONE: ReadonlyMap<string, string> = new Map([
  ['disconnected', 'Application disconnected. Its tokens are no longer valid.'],
  ['ended', 'The session has ended.'],
  ['others-ended', 'All other sessions have ended.'],
  ['profile', 'Your profile has been saved.'],
  ['appearance', 'This browser shows the site in the theme that you chose.'],
  ['password', 'Your password has been changed.'],
])

export const showAccount: PageHandler = async (browser, services: SessionServices) => {
  const session = await readSession(browser, services)
  if (session === undefined) return toLogin
  return renderAccount(browser, services, session, { done: DONE.get(browser.parameter('done') ?? '') })
}

export async function renderAccount(
  browser: Browser,
  { store, clock }: Pick<PageServices, 'store' | 'clock'>,
  session: Session,
  notices: {
    readonly done?: string | undefined
    readonly violation?: string | undefined
    /** A profile that was not saved. */
    readonly given?: PageFields
  },
): Promise<Page> {
  const { given, ...others } = notices
  const [user, channel] = await Promise.all([
    store.users.find(session.user_id),
    store.channels.find(session.user_id),
  ])
  const links = (user?.links ?? []).map(parseProfileLink)
  const sessions = await store.accounts.sessionsOf(session.user_id, isoMillis(clock.now()))
  return accountPage({
    user_id: session.user_id,
    csrf: browser.csrfToken(),
    display_name: session.display_name,
    login: session.login,
    profile: {
      display_name: given?.get('display_name') ?? session.display_name,
      description: given === undefined ? (user?.description ?? '') : (given.get('description') ?? ''),
      language: given?.get('language') ?? channel?.language ?? 'en',
      links: LINK_FIELDS.map(([label, url], place) =>
        given === undefined
          ? (links[place] ?? { label: '', url: '' })
          : { label: given.get(label) ?? '', url: given.get(url) ?? '' },
      ),
    },
    theme: browser.theme,
    now: clock.now(),
    connections: await store.accounts.connectionsOf(session.user_id),
    sessions: sessions.map(each => ({ ...each, isThis: each.id === session.id })),
    ...others,
  })
}

/** Handles a form of the account page; requires a session. */
export const withForm =
  <S>(submit: (form: PageFields, session: Session, browser: Browser, services: S) => Promise<PageAnswer>) =>
  async (browser: Browser, services: S & SessionServices): Promise<PageAnswer> => {
    const form = await browser.form()
    if (form === undefined) return expiredFormPage()
    const session = await readSession(browser, services)
    return session === undefined ? toLogin : submit(form, session, browser, services)
  }

export const submitDisconnect = withForm(
  async (form, { user_id }, _browser, { store, clock }: Pick<PageServices, 'store' | 'clock'>) => {
    const client_id = form.get('client_id') ?? ''
    await store.commands.disconnect({ user_id, client_id, now: clock.now() })
    return { goTo: '/account?done=disconnected' }
  },
)

export const submitEndSession = withForm(
  async (form, session, browser, { store }: Pick<PageServices, 'store'>) => {
    const id = form.get('session_id') ?? ''
    await store.commands.endSession({ user_id: session.user_id, id })
    if (id !== session.id) return { goTo: '/account?done=ended' }
    browser.forgetSession()
    return { goTo: LOGGED_OUT }
  },
)

export const submitEndOtherSessions = withForm(
  async (_form, { user_id, id }, _browser, { store }: Pick<PageServices, 'store'>) => {
    await store.commands.endOtherSessions({ user_id, keep: id })
    return { goTo: '/account?done=others-ended' }
  },
)

type PasswordServices = Pick<PageServices, 'store' | 'clock' | 'logIns' | 'knownBrowsers'>

/** Attempts are counted per session, so that someone guessing the password elsewhere cannot lock out the owner. */
export const submitPassword = withForm(async (form, session, browser, services: PasswordServices) => {
  const reject = (violation: string) => renderAccount(browser, services, session, { violation })
  const password = form.get('password') ?? ''
  const violation = passwordViolation(password)
  const sessionName = `session-${session.id}`
  const attempt: Attempt = [session.login, browser.address, sessionName]
  const changed = await unlessBusy(() =>
    passwords.inTurn(
      { lane: 'known', account: session.user_id, browser: sessionName },
      async turn => {
        const checked = await countAttempt(services.logIns, attempt, async () => {
          const account = await services.store.accounts.credentials(session.login)
          return (await turn.matches(form.get('current') ?? '', account?.password_hash)) ? true : undefined
        })
        if (checked !== true) return checked
        return violation === undefined ? { password_hash: await turn.hash(password) } : 'unacceptable'
      },
      browser,
    ),
  )
  if (changed instanceof PasswordsBusy)
    return withRetryAfter({ ...(await reject(BUSY)), status: 503 }, changed.retryAfterSeconds)
  if (changed === 'too_many') return reject(LOCKED_OUT)
  if (changed === 'wrong') return reject('The current password is incorrect. Your password was not changed.')
  if (changed === 'unacceptable') return reject(`${violation} Your password was not changed.`)
  const { password_hash } = changed
  await services.store.commands.changePassword({ user_id: session.user_id, password_hash, keep: session.id })
  browser.rememberBrowser(
    services.knownBrowsers.remember(browser.browserCookie, { id: session.user_id, password_hash }),
  )
  return { goTo: '/account?done=password' }
})
