/**
 * The operator console. Reading is a page per address; every change is a form that carries the proof of the session. Nothing
 * else takes the cookie: scripts of the console only read these pages again.
 */
import type { OperatorSession } from '../../auth/operator-sessions.ts'
import { demoTable } from '../../contract/admin/demo.ts'
import { tableAt } from '../../contract/admin/index.ts'
import { percentDecode } from '../../kit/text.ts'
import type { Page, PageAnswer } from '../render/page.ts'
import { expiredFormPage, problemPage } from '../render/problem-page.tsx'
import { LOCKED_OUT, LOCKED_OUT_SECONDS, withRetryAfter } from '../render/retry-later.ts'
import type { Browser } from '../request/browser.ts'
import type { ConsoleContext } from './frame.tsx'
import { OperatorApi } from './operator-api.ts'
import { actionPage, submitAction, type Target } from './pages/action-page.tsx'
import { verifiedPage, verifyAudit } from './pages/audit-page.tsx'
import { demoPage } from './pages/demo-page.tsx'
import { doctorPage } from './pages/doctor-page.tsx'
import { listPage, parseQueryString } from './pages/list-page.tsx'
import { logInPage } from './pages/log-in-page.tsx'
import { overviewPage } from './pages/overview-page.tsx'
import { findRow, rowPage } from './pages/row-page.tsx'
import { searchPage } from './pages/search-page.tsx'
import { CONSOLE } from './paths.ts'
import type { ConsoleHandler, ConsoleServices } from './services.ts'

/** The subject of failed log-ins; no account has such a name. */
const SUBJECT = 'operator console'

export const showConsole: ConsoleHandler = async (browser, services) => {
  const session = await readSession(browser, services)
  const place = splitPath(browser)
  if (session === undefined) {
    services.limits.takeFromAddress(browser.address)
    // A script that asks for data learns that the session has ended.
    if (place[0] === 'history') return { status: 401, json: { error: 'Unauthorized', status: 401 } }
    const isLoggedOut = place.length === 0 && browser.parameter('done') === 'logged-out'
    return isLoggedOut
      ? logInPage({ csrf: browser.csrfToken(), next: CONSOLE, done: 'You are logged out.' })
      : logInPage({ csrf: browser.csrfToken(), next: browser.here })
  }
  return pageAt(place, browser, services, session)
}

export const submitConsoleLogin: ConsoleHandler = async (browser, services) => {
  const form = await browser.form()
  if (form === undefined) {
    services.limits.takeFromAddress(browser.address)
    return expiredFormPage()
  }
  const next = safeNext(form.get('next'))
  const again = (violation: string, status: number): Page =>
    logInPage({ csrf: browser.csrfToken(), next, violation, status })
  const token = (form.get('password') ?? '').trim()
  const cookie = await services.operatorSessions.start(token)
  if (cookie === undefined) {
    // The right token always works: it cannot be guessed, and guessing by others must not lock operators out.
    services.limits.takeFromAddress(browser.address)
    return (await services.logIns.begin(SUBJECT, browser.address))
      ? again('This is not a valid operator token.', 401)
      : withRetryAfter(again(LOCKED_OUT, 429), LOCKED_OUT_SECONDS)
  }
  await services.logIns.succeeded(SUBJECT, browser.address)
  browser.rememberConsole(cookie)
  return { goTo: next }
}

export const submitConsoleLogout: ConsoleHandler = async (browser, services) => {
  const proven = await provenForm(browser, services)
  if (proven === undefined) return refusedForm()
  await services.operatorSessions.end(proven.session)
  browser.forgetConsole()
  return { goTo: `${CONSOLE}?done=logged-out` }
}

export const submitConsole: ConsoleHandler = async (browser, services) => {
  const proven = await provenForm(browser, services)
  if (proven === undefined) return refusedForm()
  const { session, form } = proven
  const context = createConsoleContext(session, services)
  const api = new OperatorApi(session.operator, browser.address, services)
  const place = splitPath(browser)
  if (place.join('/') === 'audit/verify') {
    browser.holdOpen()
    return verifiedPage(context, await verifyAudit(services.store, services.keepsAllAudit))
  }
  const target = await targetAt(place, api, services)
  if (target?.action.operation.takesLong || target?.action.form.downloads) browser.holdOpen()
  return target === undefined ? missingPage() : submitAction(context, api, target, form)
}

async function pageAt(
  place: readonly string[],
  browser: Browser,
  services: ConsoleServices,
  session: OperatorSession,
): Promise<PageAnswer> {
  const context = createConsoleContext(session, services)
  const api = new OperatorApi(session.operator, browser.address, services)
  const query = parseQueryString(browser)
  const [first, key, action] = place
  if (first === undefined) return overviewPage(context, api, services.metricsHistory)
  if (first === 'history' && key === undefined)
    return { json: { points: services.metricsHistory.since(Number(query.since) || 0) } }
  if (first === 'search' && key === undefined) return searchPage(context, api, browser.parameter('q') ?? '')
  if (first === 'doctor' && key === undefined) return doctorPage(context, await services.examine())
  if (first === 'demo' && key === undefined && services.demo)
    return demoPage(context, api, services.demo, query)
  const resource = tableAt(first)
  if (resource !== undefined && key === undefined) return listPage(context, api, resource, query)
  if (resource !== undefined && key !== undefined && action === undefined) {
    const row = await findRow(api, resource, key)
    if (row !== undefined) return rowPage(context, api, { resource, row, done: query.done })
  }
  const target = await targetAt(place, api, services)
  return target === undefined ? missingPage() : actionPage(context, api, target, { given: query })
}

/** The action that an address names, and its row. */
async function targetAt(
  place: readonly string[],
  api: OperatorApi,
  { demo }: ConsoleServices,
): Promise<Target | undefined> {
  const [first = '', second = '', third, ...more] = place
  const resource = first === 'demo' && demo !== undefined ? demoTable : tableAt(first)
  if (resource === undefined || more.length > 0) return undefined
  const onList = [...(resource.create ? [resource.create] : []), ...(resource.listActions ?? [])]
  if (third === undefined) {
    const action = onList.find(each => each.form.path === second)
    return action && { resource, action, key: undefined, row: undefined }
  }
  const action = resource.actions?.find(each => each.form.path === third)
  const row = action && (await findRow(api, resource, second))
  if (action === undefined || (resource.get !== undefined && row === undefined)) return undefined
  return { resource, action, key: second, row }
}

/** The parts of the address behind `/console`, decoded. */
function splitPath({ path }: Browser): readonly string[] {
  return path
    .slice(CONSOLE.length)
    .split('/')
    .filter(part => part !== '')
    .map(part => percentDecode(part) ?? '')
}

function createConsoleContext(
  session: OperatorSession,
  { operatorSessions, demo, clock }: ConsoleServices,
): ConsoleContext {
  return {
    operator: session.operator,
    proof: operatorSessions.createProof(session),
    isDemo: demo !== undefined,
    now: clock.now(),
  }
}

async function readSession(
  { consoleCookie }: Browser,
  { operatorSessions }: ConsoleServices,
): Promise<OperatorSession | undefined> {
  return consoleCookie === undefined ? undefined : operatorSessions.find(consoleCookie)
}

/** The fields of a form, if it came from a page of this session. */
async function provenForm(browser: Browser, services: ConsoleServices) {
  const session = await readSession(browser, services)
  if (session === undefined) services.limits.takeFromAddress(browser.address)
  const form = await browser.sameOriginPairs()
  if (form === undefined || session === undefined) return undefined
  const given = form.find(([name]) => name === 'proof')?.[1] ?? ''
  return services.operatorSessions.isProof(session, given) ? { session, form } : undefined
}

const BACK = [{ href: CONSOLE, title: 'Open the console' }]

const refusedForm = (): Page =>
  problemPage(
    403,
    'Invalid or expired form',
    'The form came from another site, or your session has ended. Nothing was changed. Open the console and try again.',
    BACK,
  )

const missingPage = (): Page =>
  problemPage(404, 'Not found', 'There is no such row or page. It may have been deleted.', BACK)

/** Where the log-in leads: a page of the console. */
function safeNext(next: string | undefined): string {
  return next !== undefined && /^\/console(?:[/?][\x21-\x7e]*)?$/.test(next) ? next : CONSOLE
}
