/**
 * GET /oauth2/authorize: an application sends a user here. The client and the redirect URI are validated first; until then
 * nothing is redirected. Every later failure is reported to the application by redirect.
 */
import { expiry, hashToken, issueUserToken, mintSecret, userLifetimes } from '../../auth/tokens.ts'
import { isGrantableScope } from '../../contract/helix-scopes.ts'
import { MAX_SCOPES, OPENID } from '../../contract/scope.ts'
import { isWellFormedChallenge } from '../../domain/oauth/pkce.ts'
import { isRegisteredRedirect, withParameters } from '../../domain/oauth/redirect.ts'
import { uuidV7 } from '../../kit/id.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Application, Session } from '../../store/queries/accounts.ts'
import type { PageAnswer } from '../render/page.ts'
import { expiredFormPage, problemPage } from '../render/problem-page.tsx'
import { PageFields } from '../request/fields.ts'
import { type PageHandler, type PageServices, readSession, type SessionServices } from '../request/session.ts'
import { consentPage } from './consent-view.tsx'
import { loginPage } from './login-view.tsx'

/** A validated authorization request. */
interface AuthorizationRequest {
  readonly application: Application
  readonly redirect_uri: string
  readonly response_type: 'code' | 'token'
  readonly scopes: readonly string[]
  readonly state: string | undefined
  readonly challenge: string | null
  readonly forced: boolean
  /** Present if the scopes include `openid`. */
  readonly openid: RequestedOpenid | undefined
}

/** Parameters of OpenID Connect, ignored without the scope `openid`. */
interface RequestedOpenid {
  readonly nonce: string | null
  /** Never show a page: redirect at once, with an error if the user would have to act. */
  readonly silent: boolean
  readonly logInAgain: boolean
  readonly maxAgeSeconds: number
}

type GrantServices = SessionServices & Pick<PageServices, 'signingKeys' | 'strict'>

export const showAuthorize: PageHandler = async (
  browser,
  services: GrantServices & Pick<PageServices, 'signUp'>,
) => {
  const request = await readAuthorizationRequest(browser.parameters, services)
  if (!('application' in request)) return request
  const session = await readSession(browser, services)
  if (session === undefined || mustLogInAgain(request, session, services.clock.now())) {
    if (request.openid?.silent)
      return redirectBack(request, { error: 'login_required', error_description: 'The user must log in' })
    return loginPage({
      csrf: browser.csrfToken(),
      next: session === undefined ? browser.here : withFreshLogIn(browser.here, request),
      application: request.application.name,
      signUp: services.signUp,
    })
  }
  if (await isAllowedAlready(request, session.user_id, services)) return allow(request, session, services)
  if (request.openid?.silent)
    return redirectBack(request, {
      error: 'consent_required',
      error_description: 'The user must give consent',
    })
  return consentPage({
    csrf: browser.csrfToken(),
    application: request.application.name,
    owner: request.application.owner,
    scopes: request.scopes,
    display_name: session.display_name,
    destination: `You will be redirected to ${describeDestination(request.redirect_uri)}.`,
    action: '/oauth2/consent',
    fields: { request: browser.search, user_id: session.user_id },
    next: browser.here,
  })
}

/** POST /oauth2/consent: the user's decision. The authorization request is validated again. */
export const submitConsent: PageHandler = async (browser, services: GrantServices) => {
  const form = await browser.form()
  if (form === undefined) return expiredFormPage()
  const search = form.get('request') ?? ''
  const request = await readAuthorizationRequest(PageFields.ofQuery(search), services)
  if (!('application' in request)) return request
  const session = await readSession(browser, services)
  // Another user may have logged in in another tab since the page was shown.
  if (session === undefined || session.user_id !== form.get('user_id'))
    return { goTo: `/oauth2/authorize?${search}` }
  if (form.get('decision') === 'allow') return allow(request, session, services)
  return redirectBack(request, { error: 'access_denied', error_description: 'The user denied you access' })
}

async function readAuthorizationRequest(
  parameters: PageFields,
  { store, strict }: Pick<PageServices, 'store' | 'strict'>,
): Promise<AuthorizationRequest | PageAnswer> {
  const application = await store.accounts.application(parameters.get('client_id') ?? '')
  if (application === undefined) {
    return problemPage(
      400,
      'Unknown application',
      'No application is registered with the client_id in this link. The developer of the application must correct it.',
    )
  }
  const redirect_uri = parameters.get('redirect_uri')
  if (redirect_uri === undefined || !isRegisteredRedirect(application.redirect_uris, redirect_uri)) {
    return problemPage(
      400,
      'Invalid redirect URI',
      `The redirect_uri in this link is not registered for ${application.name}. The developer of the application must correct it.`,
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
  const invalid = scopes.find(scope => !isGrantableScope(scope, strict))
  if (scopes.length > MAX_SCOPES) {
    return refuse('invalid_scope', `too many scopes requested: at most ${MAX_SCOPES} are allowed`)
  }
  if (invalid !== undefined) {
    return refuse('invalid_scope', `invalid scope requested: '${invalid.slice(0, 100)}'`)
  }
  const challenge = parameters.get('code_challenge')
  if (
    challenge !== undefined &&
    (parameters.get('code_challenge_method') !== 'S256' || !isWellFormedChallenge(challenge))
  ) {
    return refuse(
      'invalid_request',
      'code_challenge must be well-formed and code_challenge_method must be S256',
    )
  }
  if (type === 'code' && application.kind === 'public' && challenge === undefined) {
    return refuse('invalid_request', 'a public client must send a code_challenge')
  }
  const openid = scopes.includes(OPENID) ? readOpenid(parameters) : undefined
  if (openid === 'malformed') {
    return refuse(
      'invalid_request',
      'max_age must be a number of seconds, and prompt=none must be the only prompt',
    )
  }
  const forced =
    parameters.get('force_verify') === 'true' ||
    (openid !== undefined && parsePrompts(parameters).has('consent'))
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

const parsePrompts = (parameters: PageFields) => new Set((parameters.get('prompt') ?? '').split(' '))

function readOpenid(parameters: PageFields): RequestedOpenid | 'malformed' {
  const prompts = parsePrompts(parameters)
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

/** The same request without `max_age` and `prompt=login`, which would otherwise require a second log-in. */
function withFreshLogIn(here: string, { forced }: AuthorizationRequest): string {
  return here
    .replace(/([?&]max_age)=[^&]*/, '$1=')
    .replace(/([?&]prompt)=[^&]*/, forced ? '$1=consent' : '$1=')
}

/**
 * A user who has already allowed all requested scopes is not asked again, provided that the client authenticates when it
 * redeems the code. A public client might be another program under the same name.
 */
async function isAllowedAlready(
  request: AuthorizationRequest,
  user_id: string,
  { store }: Pick<PageServices, 'store'>,
): Promise<boolean> {
  if (request.forced || request.response_type !== 'code' || request.application.kind !== 'confidential')
    return false
  const allowed = await store.accounts.allowedScopes(user_id, request.application.id)
  return allowed !== undefined && request.scopes.every(scope => allowed.includes(scope))
}

async function allow(
  request: AuthorizationRequest,
  session: Session,
  { store, clock, lifetimes, signingKeys }: GrantServices,
): Promise<PageAnswer> {
  const { application, scopes, openid } = request
  const { user_id, created_at: authenticated_at } = session
  const now = clock.now()
  if (request.response_type === 'token') {
    const issue = issueUserToken(
      { client_id: application.id, user_id, scopes },
      now,
      userLifetimes('public', lifetimes),
    )
    const [access] = issue.rows
    if (access === undefined) throw new Error('an issued token has no access token')
    await store.commands.grantToken({ token: { ...access, user_id }, now: isoMillis(now) })
    const { access_token } = issue.answer
    return redirectBack(request, { access_token, scope: scopes.join(' '), token_type: 'bearer' })
  }
  // Before the code is issued: redeeming it must not wait for a key or fail without one.
  if (openid !== undefined) await signingKeys.prepare()
  const code = mintSecret('code')
  await store.commands.grantCode({
    code: {
      hash: hashToken(code),
      client_id: application.id,
      user_id,
      redirect_uri: request.redirect_uri,
      challenge: request.challenge,
      scopes,
      family: uuidV7(),
      expires_at: expiry(now, lifetimes.code_seconds),
      openid: openid && { nonce: openid.nonce, authenticated_at },
    },
    now: isoMillis(now),
  })
  return redirectBack(request, { code, scope: scopes.join(' ') })
}

function redirectBack(
  { redirect_uri, response_type, state }: AuthorizationRequest,
  parameters: Readonly<Record<string, string | undefined>>,
): PageAnswer {
  const where = response_type === 'token' ? 'fragment' : 'query'
  return { goTo: withParameters(redirect_uri, { ...parameters, state }, where) }
}

/** The host of an http(s) URI; any other scheme is an application on this device. */
function describeDestination(redirect_uri: string): string {
  if (!/^https?:/.test(redirect_uri)) return 'the application on this device'
  // A registered URI need not parse as a URL in this runtime.
  return URL.canParse(redirect_uri) ? new URL(redirect_uri).host : redirect_uri
}
