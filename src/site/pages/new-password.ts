/** The page that a link of `strand user reset-password` opens (D-275). */
import { PasswordsBusy, passwords } from '../../auth/passwords.ts'
import { hashToken, isWellFormed } from '../../auth/tokens.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Page, PageAnswer } from '../render/page.ts'
import { expiredFormPage, problemPage } from '../render/problem-page.tsx'
import { withRetryAfter } from '../render/retry-later.ts'
import type { PageHandler, PageServices } from '../request/session.ts'
import { BUSY, PASSWORD_CHANGED, passwordViolation, unlessBusy } from './login.ts'
import { newPasswordPage } from './login-view.tsx'

type NewPasswordServices = Pick<PageServices, 'store' | 'clock'>

export const showNewPassword: PageHandler = async (browser, services: NewPasswordServices) => {
  const reset = browser.parameter('reset') ?? ''
  const account = await findAccount(reset, services)
  return account === undefined
    ? endedPage()
    : newPasswordPage({ csrf: browser.csrfToken(), reset, login: account.login })
}

/** The link is checked before the password is hashed, so that only its holder can cause that work. */
export const submitNewPassword: PageHandler = async (browser, services: NewPasswordServices) => {
  const form = await browser.form()
  if (form === undefined) return expiredFormPage()
  const reset = form.get('reset') ?? ''
  const account = await findAccount(reset, services)
  if (account === undefined) return endedPage()
  const password = form.get('password') ?? ''
  const again = (violation: string, status: number): Page =>
    newPasswordPage({ csrf: browser.csrfToken(), reset, login: account.login, violation, status })
  const violation = passwordViolation(password)
  if (violation !== undefined) return again(violation, 400)
  const password_hash = await unlessBusy(() =>
    passwords.inTurn({ lane: 'stranger', address: browser.address }, turn => turn.hash(password), browser),
  )
  if (password_hash instanceof PasswordsBusy)
    return withRetryAfter(again(BUSY, 503), password_hash.retryAfterSeconds)
  const now = isoMillis(services.clock.now())
  const refused = await services.store.commands.usePasswordReset({
    hash: hashToken(reset),
    password_hash,
    now,
  })
  return refused === undefined ? { goTo: PASSWORD_CHANGED } : endedPage()
}

const findAccount = async (reset: string, { store, clock }: NewPasswordServices) =>
  isWellFormed(reset) ? store.accounts.withPasswordReset(hashToken(reset), isoMillis(clock.now())) : undefined

const endedPage = (): PageAnswer =>
  problemPage(
    404,
    'This link is no longer valid',
    'A link to set a password works once, for 24 hours. Ask the operator of this server for a new one.',
    [{ href: '/login', title: 'Log in' }],
  )
