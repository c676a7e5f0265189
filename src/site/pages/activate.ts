/** GET and POST /activate: the user enters the code shown on a device, reviews the request, and decides. */
import { type Attempt, countAttempt } from '../../auth/attempts.ts'
import { OPENID } from '../../contract/scope.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Session } from '../../store/queries/accounts.ts'
import type { PageAnswer } from '../render/page.ts'
import { expiredFormPage } from '../render/problem-page.tsx'
import type { Browser } from '../request/browser.ts'
import { type PageHandler, type PageServices, readSession, type SessionServices } from '../request/session.ts'
import { activatePage, consentPage, donePage } from './consent-view.tsx'
import { loginPage } from './login-view.tsx'

/** Approximate wait after too many wrong codes. */
const RETRY_GUESS_SECONDS = 60
/** Longer than any code, including separators. */
const MAX_TYPED = 40

/** Accepts any case, spaces and hyphens. */
function readUserCode(text: string | undefined): string | undefined {
  return text?.slice(0, MAX_TYPED).replaceAll(/[\s-]/g, '').toUpperCase()
}

type ActivateServices = SessionServices &
  Pick<PageServices, 'attempts' | 'consentProofs' | 'signUp' | 'signingKeys'>

export const showActivate: PageHandler = async (browser, services: ActivateServices) => {
  const session = await readSession(browser, services)
  const csrf = browser.csrfToken()
  if (session === undefined) return loginPage({ csrf, next: browser.here, signUp: services.signUp })
  const { display_name } = session
  const user_code = readUserCode(browser.parameter('device-code') ?? browser.parameter('user_code'))
  if (user_code === undefined) return activatePage({ csrf, display_name })
  const device = await countAttempt(services.attempts, activationAttempt(browser, session), () =>
    findPendingDevice(user_code, services),
  )
  if (device === 'too_many') return tooManyGuesses(browser, session)
  if (device === 'wrong') {
    return activatePage({
      csrf,
      display_name,
      code: user_code,
      violation:
        'No device is waiting for this code. Check the code shown on your device; codes expire after 30 minutes.',
    })
  }
  // Prepared here because the device would lose its code if this failed during the token request.
  if (device.scopes.includes(OPENID)) await services.signingKeys.prepare()
  const proof = services.consentProofs.of(shownDevice(user_code, device.hash, session))
  return consentPage({
    csrf,
    application: device.application.name,
    owner: device.application.owner,
    scopes: device.scopes,
    display_name,
    userCode: user_code,
    destination: 'Only allow this if you have the device in front of you.',
    action: '/activate',
    fields: { 'device-code': user_code, user_id: session.user_id, device: device.hash, proof },
    next: browser.here,
  })
}

/** A form without a valid consent proof counts as a guess; the code is not looked up. */
export const submitActivate: PageHandler = async (browser, services: ActivateServices) => {
  const form = await browser.form()
  if (form === undefined) return expiredFormPage()
  const session = await readSession(browser, services)
  const user_code = readUserCode(form.get('device-code')) ?? ''
  // Another user may have logged in in another tab since the page was shown.
  if (session === undefined || session.user_id !== form.get('user_id'))
    return { goTo: `/activate?device-code=${encodeURIComponent(user_code)}` }
  const { display_name, user_id } = session
  const hash = form.get('device') ?? ''
  const shown = shownDevice(user_code, hash, session)
  if (!services.consentProofs.verifies(shown, form.get('proof') ?? '')) {
    if (!(await services.attempts.begin(...activationAttempt(browser, session))))
      return tooManyGuesses(browser, session)
    return activatePage({
      csrf: browser.csrfToken(),
      display_name,
      code: user_code,
      violation: 'Enter the code first. Check that it matches the code shown on your device, then continue.',
    })
  }
  const allow = form.get('decision') === 'allow'
  const now = isoMillis(services.clock.now())
  const refused = await services.store.commands.decideDevice({ hash, user_code, user_id, allow, now })
  if (refused !== undefined) {
    return activatePage({
      csrf: browser.csrfToken(),
      display_name,
      violation: 'The device is no longer waiting. Request a new code on the device.',
    })
  }
  return allow
    ? donePage('Device connected', 'The device continues automatically. You can close this page.')
    : donePage('Access denied', 'The device was not connected. You can close this page.')
}

/**
 * What the form of the consent page proves: that the user was shown the device that they allow or deny. A code posted
 * without proof was not looked up before, and looking up is where guesses are counted. The hash of the device code is part of
 * it, because another device may get the same user code later.
 */
const shownDevice = (user_code: string, hash: string, session: Session): string =>
  JSON.stringify([user_code, hash, session.id])

/** Codes from the query string and from the form count against the same limit. */
const activationAttempt = (browser: Browser, { user_id }: Session): Attempt => [
  `device ${user_id}`,
  browser.address,
]

const tooManyGuesses = (browser: Browser, { display_name }: Session): PageAnswer => ({
  ...activatePage({
    csrf: browser.csrfToken(),
    display_name,
    violation: 'Too many wrong codes. Wait a few minutes and try again.',
  }),
  status: 429,
  retryAfterSeconds: RETRY_GUESS_SECONDS,
})

async function findPendingDevice(user_code: string, { store, clock }: Pick<PageServices, 'store' | 'clock'>) {
  const device = await store.accounts.waitingDevice(user_code, isoMillis(clock.now()))
  const application = device && (await store.accounts.application(device.client_id))
  if (device === undefined || !application?.device_flow) return undefined
  return { application, hash: device.hash, scopes: JSON.parse(device.scopes) as string[] }
}
