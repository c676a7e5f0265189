/**
 * GET /oauth2/authorize: an application sends a person here. First it is made sure that the application and the place to
 * go back to are what they claim; until then nobody is sent anywhere. Every other failure goes back to the application.
 */
import { expiry, hashOf, issueUserToken, mintSecret, userLifetimes } from '../auth/tokens.ts'
import { isWellFormedScope, MAX_SCOPES, OPENID } from '../contract/scope.ts'
import { isWellFormedChallenge } from '../domain/pkce.ts'
import { isRegisteredRedirect, withParameters } from '../domain/redirect.ts'
import { isoMillis } from '../kit/clock.ts'
import { uuidV7 } from '../kit/id.ts'
import type { Application, Session } from '../store/queries/accounts.ts'
import { PageFields } from './fields.ts'
import { type PageAnswer, type PageHandler, type PageServices, sessionOf } from './session.ts'
import { consentPage, expiredFormPage, loginPage, problemPage } from './views.ts'

/** What an application asks for, checked. */
interface AuthorizationRequest {
  readonly application: Application
  readonly redirect_uri: string
  readonly response_type: 'code' | 'token'
  readonly scopes: readonly string[]
  readonly state: string | undefined
  readonly challenge: string | null
  readonly forced: boolean
  /** What was asked for with the scope `openid`. */
  readonly openid: RequestedOpenid | undefined
}

/** Parameters of OpenID Connect. Without its scope they mean nothing and are ignored. */
interface RequestedOpenid {
  readonly nonce: string | null
  /** Do not show a page: answer at once or fail. */
  readonly silent: boolean
  readonly logInAgain: boolean
  readonly maxAgeSeconds: number
}

export const showAuthorize: PageHandler = async (browser, services) => {
  const asked = await readAuthorizationRequest(browser.parameters, services)
  if (!('application' in asked)) return asked
  const session = await sessionOf(browser, services)
  if (session === undefined || mustLogInAgain(asked, session, services.clock.now())) {
    if (asked.openid?.silent)
      return sendBack(asked, { error: 'login_required', error_description: 'The user must log in' })
    return loginPage({
      csrf: browser.csrfToken(),
      next: session === undefined ? browser.here : withFreshLogIn(browser.here, asked),
      application: asked.application.name,
      signUp: services.signUp,
    })
  }
  if (await isAllowedAlready(asked, session.user_id, services)) return allow(asked, session, services)
  if (asked.openid?.silent)
    return sendBack(asked, { error: 'consent_required', error_description: 'The user must be asked' })
  return consentPage({
    csrf: browser.csrfToken(),
    application: asked.application.name,
    owner: asked.application.owner,
    scopes: asked.scopes,
    display_name: session.display_name,
    destination: `You will be sent back to ${destinationOf(asked.redirect_uri)}.`,
    action: '/oauth2/consent',
    fields: { request: browser.search, user_id: session.user_id },
    next: browser.here,
  })
}

/** POST /oauth2/consent: the person has decided. What was asked is checked anew. */
export const submitConsent: PageHandler = async (browser, services) => {
  const form = await browser.form()
  if (form === undefined) return expiredFormPage()
  // A node of the version before writes the question mark too.
  const request = (form.get('request') ?? '').replace(/^\?/, '')
  const asked = await readAuthorizationRequest(PageFields.ofQuery(request), services)
  if (!('application' in asked)) return asked
  const session = await sessionOf(browser, services)
  // Somebody else may have logged in in another tab since the page was shown.
  if (session === undefined || session.user_id !== form.get('user_id'))
    return { goTo: `/oauth2/authorize?${request}` }
  if (form.get('decision') === 'allow') return allow(asked, session, services)
  return sendBack(asked, { error: 'access_denied', error_description: 'The user denied you access' })
}

async function readAuthorizationRequest(
  parameters: PageFields,
  { store }: PageServices,
): Promise<AuthorizationRequest | PageAnswer> {
  const application = await store.accounts.application(parameters.get('client_id') ?? '')
  if (application === undefined) {
    return problemPage(
      400,
      'Unknown application',
      'No application is registered under the client_id of this link. Whoever runs the application has to correct it.',
    )
  }
  const redirect_uri = parameters.get('redirect_uri')
  if (redirect_uri === undefined || !isRegisteredRedirect(application.redirect_uris, redirect_uri)) {
    return problemPage(
      400,
      'Wrong way back',
      `The redirect_uri of this link is not registered for ${application.name}. Whoever runs the application has to correct it.`,
    )
  }
  const type = parameters.get('response_type')
  const state = parameters.get('state')
  const where = type === 'token' ? 'fragment' : 'query'
  const refuse = (error: string, error_description: string): PageAnswer => ({
    goTo: withParameters(redirect_uri, { error, error_description, state }, where),
  })
  if (type !== 'code' && type !== 'token') {
    return refuse('unsupported_response_type', 'response_type must be code or token')
  }
  if (type === 'token' && !application.implicit_grant) {
    return refuse('unauthorized_client', 'this client is not registered for the implicit grant')
  }
  const scopes = [...new Set((parameters.get('scope') ?? '').split(' ').filter(scope => scope !== ''))]
  const malformed = scopes.find(scope => !isWellFormedScope(scope))
  if (scopes.length > MAX_SCOPES) {
    return refuse('invalid_scope', `too many scopes requested: at most ${MAX_SCOPES} are allowed`)
  }
  if (malformed !== undefined) {
    return refuse('invalid_scope', `invalid scope requested: '${malformed.slice(0, 100)}'`)
  }
  const challenge = parameters.get('code_challenge')
  if (
    challenge !== undefined &&
    (parameters.get('code_challenge_method') !== 'S256' || !isWellFormedChallenge(challenge))
  ) {
    return refuse('invalid_request', 'code_challenge must be made by the method S256')
  }
  if (type === 'code' && application.kind === 'public' && challenge === undefined) {
    return refuse('invalid_request', 'a public client must send a code_challenge')
  }
  const openid = scopes.includes(OPENID) ? readOpenid(parameters) : undefined
  if (openid === 'malformed') {
    return refuse('invalid_request', 'max_age must be a number of seconds, and prompt=none must stand alone')
  }
  const forced =
    parameters.get('force_verify') === 'true' ||
    (openid !== undefined && promptsOf(parameters).has('consent'))
  return {
    application,
    redirect_uri,
    response_type: type,
    scopes,
    state,
    challenge: challenge ?? null,
    forced,
    openid,
  }
}

const promptsOf = (parameters: PageFields) => new Set((parameters.get('prompt') ?? '').split(' '))

function readOpenid(parameters: PageFields): RequestedOpenid | 'malformed' {
  const prompts = promptsOf(parameters)
  const maxAge = parameters.get('max_age')
  const silent = prompts.has('none')
  if ((maxAge !== undefined && !/^[0-9]{1,9}$/.test(maxAge)) || (silent && prompts.size > 1))
    return 'malformed'
  return {
    nonce: parameters.get('nonce') ?? null,
    silent,
    logInAgain: prompts.has('login'),
    maxAgeSeconds: maxAge === undefined ? Number.POSITIVE_INFINITY : Number(maxAge),
  }
}

function mustLogInAgain({ openid }: AuthorizationRequest, session: Session, now: number): boolean {
  if (openid === undefined) return false
  return openid.logInAgain || now - Date.parse(session.created_at) > openid.maxAgeSeconds * 1000
}

/** The same request without what asked for the log-in that has taken place by then; else it would be asked for again. */
function withFreshLogIn(here: string, { forced }: AuthorizationRequest): string {
  return here
    .replace(/([?&]max_age)=[^&]*/, '$1=')
    .replace(/([?&]prompt)=[^&]*/, forced ? '$1=consent' : '$1=')
}

/**
 * Somebody who has allowed all of this before need not be asked again, if the application can prove who it is when it
 * redeems the code. One that cannot might be another program with the same name.
 */
async function isAllowedAlready(
  asked: AuthorizationRequest,
  user_id: string,
  { store }: PageServices,
): Promise<boolean> {
  if (asked.forced || asked.response_type !== 'code' || asked.application.kind !== 'confidential')
    return false
  const allowed = await store.accounts.allowedScopes(user_id, asked.application.id)
  return allowed !== undefined && asked.scopes.every(scope => allowed.includes(scope))
}

async function allow(
  asked: AuthorizationRequest,
  session: Session,
  services: PageServices,
): Promise<PageAnswer> {
  const { store, clock } = services
  const { application, scopes, openid } = asked
  const { user_id, created_at: authenticated_at } = session
  const now = clock.now()
  if (asked.response_type === 'token') {
    const issue = issueUserToken(
      { client_id: application.id, user_id, scopes },
      now,
      userLifetimes('public', services.lifetimes),
    )
    const [access] = issue.rows
    if (access === undefined) throw new Error('an issue has an access token')
    await store.commands.grantToken({ token: { ...access, user_id }, now: isoMillis(now) })
    const { access_token } = issue.answer
    return sendBack(asked, { access_token, scope: scopes.join(' '), token_type: 'bearer' })
  }
  // Before the code is given, so that redeeming it does not have to wait for a key, or fail for lack of one.
  if (openid !== undefined) await services.signingKeys.prepare()
  const code = mintSecret('code')
  await store.commands.grantCode({
    code: {
      hash: hashOf(code),
      client_id: application.id,
      user_id,
      redirect_uri: asked.redirect_uri,
      challenge: asked.challenge,
      scopes,
      family: uuidV7(),
      expires_at: expiry(now, services.lifetimes.code_seconds),
      openid: openid && { nonce: openid.nonce, authenticated_at },
    },
    now: isoMillis(now),
  })
  return sendBack(asked, { code, scope: scopes.join(' ') })
}

function sendBack(
  { redirect_uri, response_type, state }: AuthorizationRequest,
  parameters: Readonly<Record<string, string | undefined>>,
): PageAnswer {
  const where = response_type === 'token' ? 'fragment' : 'query'
  return { goTo: withParameters(redirect_uri, { ...parameters, state }, where) }
}

/** The host of a web address; of anything else, that it is a program on this device. */
function destinationOf(redirect_uri: string): string {
  if (!/^https?:/.test(redirect_uri)) return 'the application on this device'
  // What was registered need not be a URL that this runtime can read.
  return URL.canParse(redirect_uri) ? new URL(redirect_uri).host : redirect_uri
}
