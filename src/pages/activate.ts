/** GET and POST /activate: a person types the code that a device shows, sees what it asks for, and decides. */
import { isoMillis } from '../kit/clock.ts'
import { type PageAnswer, type PageHandler, type PageRooms, sessionOf } from './house.ts'
import { activatePage, consentPage, donePage, loginPage, strangeForm } from './views.ts'

/** As people type it: any case, with spaces or hyphens in between. */
function readUserCode(text: string | undefined): string | undefined {
  return text?.replaceAll(/[\s-]/g, '').toUpperCase()
}

export const showActivate: PageHandler = async (browser, rooms) => {
  const session = await sessionOf(browser, rooms)
  const csrf = browser.csrfToken()
  if (session === undefined) return loginPage({ csrf, next: browser.here, signUp: rooms.signUp })
  const { display_name } = session
  const code = readUserCode(browser.parameter('device-code') ?? browser.parameter('user_code'))
  if (code === undefined) return activatePage({ csrf, display_name })
  const subject = `device ${session.user_id}`
  if (!(await rooms.attempts.begin(subject, browser.address))) {
    return activatePage({
      csrf,
      display_name,
      complaint: 'There were too many wrong codes. Wait some minutes and try again.',
    })
  }
  const device = await waiting(code, rooms)
  if (device === undefined) {
    return activatePage({
      csrf,
      display_name,
      code,
      complaint:
        'No device waits with this code. Compare it with what the device shows; after half an hour it shows another one.',
    })
  }
  await rooms.attempts.succeeded(subject, browser.address)
  return consentPage({
    csrf,
    application: device.application.name,
    owner: device.application.owner,
    scopes: device.scopes,
    display_name,
    destination: 'Only allow this if you have the device in front of you.',
    action: '/activate',
    fields: { 'device-code': code, user_id: session.user_id },
    next: browser.here,
  })
}

export const takeActivate: PageHandler = async (browser, rooms): Promise<PageAnswer> => {
  const form = await browser.form()
  if (form === undefined) return strangeForm()
  const session = await sessionOf(browser, rooms)
  const user_code = readUserCode(form.get('device-code')) ?? ''
  // Somebody else may have logged in in another tab since the page was shown.
  if (session === undefined || session.user_id !== form.get('user_id'))
    return { goTo: `/activate?device-code=${encodeURIComponent(user_code)}` }
  const allow = form.get('decision') === 'allow'
  const outcome = await rooms.store.commands.decideDevice({
    user_code,
    user_id: session.user_id,
    allow,
    now: isoMillis(rooms.clock.now()),
  })
  if (outcome === 'absent') {
    return activatePage({
      csrf: browser.csrfToken(),
      display_name: session.display_name,
      complaint: 'The device waits no longer. Let it show a new code.',
    })
  }
  return allow
    ? donePage('The device is connected', 'It will notice by itself. You can close this page.')
    : donePage('The device was turned away', 'It gets nothing. You can close this page.')
}

async function waiting(user_code: string, { store, clock }: PageRooms) {
  const device = await store.accounts.waitingDevice(user_code, isoMillis(clock.now()))
  const application = device && (await store.accounts.application(device.client_id))
  return device && application && { application, scopes: JSON.parse(device.scopes) as string[] }
}
