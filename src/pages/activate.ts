/** GET and POST /activate: a person types the code that a device shows, sees what it asks for, and decides. */
import { type Attempt, countAttempt } from '../auth/attempts.ts'
import { OPENID } from '../contract/scope.ts'
import { isoMillis } from '../kit/clock.ts'
import type { Session } from '../store/queries/accounts.ts'
import type { Browser } from './browser.ts'
import { consentProof, isConsentProof } from './consent-proof.ts'
import { type PageAnswer, type PageHandler, type PageServices, sessionOf } from './session.ts'
import { activatePage, consentPage, donePage, expiredFormPage, loginPage } from './views.ts'

/** When somebody who guessed too often may try again, about. */
const RETRY_GUESS_SECONDS = 60
/** Longer than any code, however it is grouped. */
const MAX_TYPED = 40

/** As people type it: any case, with spaces or hyphens in between. */
function readUserCode(text: string | undefined): string | undefined {
  return text?.slice(0, MAX_TYPED).replaceAll(/[\s-]/g, '').toUpperCase()
}

export const showActivate: PageHandler = async (browser, services) => {
  const session = await sessionOf(browser, services)
  const csrf = browser.csrfToken()
  if (session === undefined) return loginPage({ csrf, next: browser.here, signUp: services.signUp })
  const { display_name } = session
  const user_code = readUserCode(browser.parameter('device-code') ?? browser.parameter('user_code'))
  if (user_code === undefined) return activatePage({ csrf, display_name })
  const device = await countAttempt(services.attempts, attemptOf(browser, session), () =>
    waiting(user_code, services),
  )
  if (device === 'too_many') return tooManyGuesses(browser, session)
  if (device === 'wrong') {
    return activatePage({
      csrf,
      display_name,
      code: user_code,
      violation:
        'No device waits with this code. Compare it with what the device shows; after half an hour it shows another one.',
    })
  }
  // Not when the device comes for its tokens: it would lose its code if that failed.
  if (device.scopes.includes(OPENID)) await services.signingKeys.prepare()
  const proof = consentProof(services.consentKeys(), { user_code, hash: device.hash, session_id: session.id })
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

/** Without the proof that the code was looked up, what was posted is one more guess, and no code is looked at. */
export const submitActivate: PageHandler = async (browser, services): Promise<PageAnswer> => {
  const form = await browser.form()
  if (form === undefined) return expiredFormPage()
  const session = await sessionOf(browser, services)
  const user_code = readUserCode(form.get('device-code')) ?? ''
  // Somebody else may have logged in in another tab since the page was shown.
  if (session === undefined || session.user_id !== form.get('user_id'))
    return { goTo: `/activate?device-code=${encodeURIComponent(user_code)}` }
  const { display_name, user_id } = session
  const hash = form.get('device') ?? ''
  const shown = { user_code, hash, session_id: session.id }
  if (!isConsentProof(services.consentKeys(), shown, form.get('proof') ?? '')) {
    if (!(await services.attempts.begin(...attemptOf(browser, session))))
      return tooManyGuesses(browser, session)
    return activatePage({
      csrf: browser.csrfToken(),
      display_name,
      code: user_code,
      violation: 'Look the code up first: compare it with what the device shows, and continue.',
    })
  }
  const allow = form.get('decision') === 'allow'
  const now = isoMillis(services.clock.now())
  const refused = await services.store.commands.decideDevice({ hash, user_code, user_id, allow, now })
  if (refused !== undefined) {
    return activatePage({
      csrf: browser.csrfToken(),
      display_name,
      violation: 'The device waits no longer. Let it show a new code.',
    })
  }
  return allow
    ? donePage('The device is connected', 'It will notice by itself. You can close this page.')
    : donePage('The device was turned away', 'It gets nothing. You can close this page.')
}

/** A code that somebody typed is counted wherever it was sent. */
const attemptOf = (browser: Browser, { user_id }: Session): Attempt => [`device ${user_id}`, browser.address]

const tooManyGuesses = (browser: Browser, { display_name }: Session): PageAnswer => ({
  ...activatePage({
    csrf: browser.csrfToken(),
    display_name,
    violation: 'There were too many wrong codes. Wait some minutes and try again.',
  }),
  status: 429,
  retryAfterSeconds: RETRY_GUESS_SECONDS,
})

async function waiting(user_code: string, { store, clock }: PageServices) {
  const device = await store.accounts.waitingDevice(user_code, isoMillis(clock.now()))
  const application = device && (await store.accounts.application(device.client_id))
  if (device === undefined || !application?.device_flow) return undefined
  return { application, hash: device.hash, scopes: JSON.parse(device.scopes) as string[] }
}
