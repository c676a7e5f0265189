/**
 * Every failure that Strand answers with on purpose: its name (in declarations, tests and logs), its HTTP status and its
 * message. Messages contain no secrets and state what to do; D-10 fixes the wording of many.
 */
interface ProblemRule<Details extends readonly unknown[]> {
  readonly status: number
  readonly message: (...details: Details) => string
  /** Fixed, or computed from the same details as the message. */
  readonly headers?: Headers | ((...details: Details) => Headers)
  /** Fields of the error body beside the usual ones, from the same details. */
  readonly fields?: (...details: Details) => Fields
  /** The input that is wrong, for programs (D-160). */
  readonly input?: (...details: Details) => InputProblem
}

/** What is wrong with an input. */
export interface InputProblem {
  /** Its name in the contract; with dots inside of an object: `transport.secret`. */
  readonly field: string
  /** What it must be, without a subject: `must be at most 140 characters`. Absent: it is missing. */
  readonly reason?: string
}

type Fields = Readonly<Record<string, string>>

type Headers = Readonly<Record<string, string>>

/** The message is a text, or made from the details of the failure. */
const answering =
  (status: number) =>
  <Details extends readonly unknown[] = []>(
    message: string | ProblemRule<Details>['message'],
    more: Pick<ProblemRule<Details>, 'headers' | 'fields' | 'input'> = {},
  ): ProblemRule<Details> => ({
    status,
    message: typeof message === 'string' ? () => message : message,
    ...more,
  })

const badRequest = answering(400)
const unauthorized = answering(401)
const forbidden = answering(403)
const notFound = answering(404)
const conflict = answering(409)
const tooMany = answering(429)
const unavailable = answering(503)

const retryAfter = (seconds: number): Headers => ({ 'Retry-After': String(seconds) })

const parameter = (name: string, why: string) => `The parameter "${name}" was malformed: ${why}`

/** The subject of the sentence is the field itself. */
const wrongInput = (field: string, why: string): InputProblem => ({
  field,
  reason: why.replace(/^(?:the )?value (?=must)/, ''),
})

const GIVEN_ONCE = 'the value must be given once'

const listed = (items: readonly string[]) =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`

export const problems = {
  missing_parameter: badRequest((name: string) => `Missing required parameter "${name}"`, {
    input: name => ({ field: name }),
  }),
  malformed_parameter: badRequest(parameter, { input: wrongInput }),
  repeated_parameter: badRequest((name: string) => parameter(name, GIVEN_ONCE), {
    input: name => wrongInput(name, GIVEN_ONCE),
  }),
  malformed_query: badRequest('The query string must be percent-encoded UTF-8.'),
  malformed_form: badRequest('The form is incomplete or is not percent-encoded UTF-8.'),
  malformed_host: badRequest('The header Host must be one host name or address, with or without a port.'),
  malformed_image_size: badRequest(
    (most: number) => `The size must be <width>x<height> with values from 1 to ${most}, such as 320x180.`,
  ),
  malformed_json: badRequest('The body must be a JSON object in UTF-8.'),
  not_exactly_one: badRequest(
    (first: string, second: string, ...more: string[]) =>
      `Exactly one of ${[first, second, ...more].map(name => `"${name}"`).join(' and ')} is required`,
  ),
  playlist_too_far: badRequest('The playlist was asked for a part that is more than two segments ahead.'),
  none_given: badRequest((first: string, second: string, ...more: string[]) => {
    const quoted = [first, second, ...more].map(name => `"${name}"`)
    return `At least one of ${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)} is required`
  }),
  no_identifier: badRequest('Must provide an ID, Login or OAuth Token'),
  bad_identifiers: badRequest('Invalid username(s), email(s), or ID(s). Bad Identifiers.'),
  not_one_video_filter: badRequest(
    'Must provide only one of the following query params: user ID, game ID, or one or more video IDs.',
  ),
  invalid_cursor: badRequest('invalid cursor'),
  both_cursors: badRequest('Only one of "after" and "before" may be given'),
  bad_idempotency_key: badRequest('The header Idempotency-Key must be 1 to 255 visible ASCII characters.'),
  idempotency_key_reused: badRequest(
    'This Idempotency-Key was used with other input; send a new key for a new marker.',
  ),
  no_organization: badRequest('The client does not belong to an organization; an operator can assign one.'),
  other_user_filter: badRequest(
    'With a user token, user_id must be left out or be the user of the token; use an app token to see other users.',
  ),
  malformed_logins: badRequest('Malformed query params.'),
  id_not_numeric: badRequest((name: string, id: string) => `${name} "${id}" must be numeric`),
  unknown_reference: badRequest(
    (kind: string, id: string) => `There is no ${kind} with the id "${id}"; create it first.`,
  ),
  nothing_to_update: badRequest('The request must update at least one channel property field.'),
  invalid_game_id: badRequest('invalid game_id'),
  not_partnered: badRequest('the broadcaster is not partnered, failed to set delay'),
  refused_reference: badRequest((why: string) => why),
  several_filters: badRequest(
    (...names: string[]) => `At most one of ${listed(names.map(name => `"${name}"`))} may be given`,
  ),
  wrong_token_kind: badRequest(
    (method: string, kind: string) => `A ${method} subscription needs ${kind} access token.`,
  ),
  wrong_line: badRequest((line: number, why: string) => `Line ${line}: ${why}. Nothing was changed.`),

  token_missing: unauthorized('OAuth token is missing', {
    headers: { 'WWW-Authenticate': 'OAuth realm="Strand"' },
  }),
  token_invalid: unauthorized('Invalid OAuth token', {
    headers: { 'WWW-Authenticate': 'OAuth realm="Strand", error="invalid_token"' },
  }),
  client_mismatch: unauthorized('Client ID and OAuth token do not match'),
  client_id_missing: unauthorized('Client ID is missing'),
  user_token_required: unauthorized(
    'A user access token is required; an app access token cannot be used here.',
  ),
  scope_missing: unauthorized((scope: string) => `Missing scope: ${scope}`),
  identity_mismatch: unauthorized(
    (name: string) => `The ID in ${name} must match the user ID found in the request's OAuth token.`,
  ),
  not_video_owner: unauthorized('Only the owner of a video may delete it; nothing was deleted.'),
  operator_required: unauthorized(
    'The operator token is required; send Authorization: Bearer <operator token>.',
    { headers: { 'WWW-Authenticate': 'Bearer realm="Strand operator"' } },
  ),
  operator_invalid: unauthorized(
    'The operator token is invalid or was revoked; send Authorization: Bearer <operator token>.',
    { headers: { 'WWW-Authenticate': 'Bearer realm="Strand operator", error="invalid_token"' } },
  ),

  invalid_session: unauthorized('The playback session is invalid or has expired; start a new one.'),

  game_forbidden: forbidden('game not managed by this organization.'),
  entitlement_forbidden: forbidden('An entitlement in "id" belongs to another organization or user.'),
  marker_forbidden: forbidden(
    (login: string) => `Not authorized to create a stream marker for channel ${login}.`,
  ),
  channel_forbidden: forbidden("Only the broadcaster and the channel's editors may list its markers."),
  subscription_forbidden: forbidden((why: string) => `subscription missing proper authorization: ${why}`),
  account_not_linked: forbidden(
    (url: string) => `Link your account at ${url} first; then the drop can be claimed.`,
  ),
  mature_label_fixed: forbidden(
    "The label MatureGame follows the channel's mature setting and cannot be changed here.",
  ),

  route_unknown: notFound('There is no such operation at this path with this method.'),
  operation_not_offered: notFound(
    (operations: readonly string[]) =>
      `${listed(operations)} ${operations.length === 1 ? 'is' : 'are'} not offered by this server; see /docs for the operations that are.`,
  ),
  method_unknown: notFound(
    (method: string, path: string, methods: readonly string[]) =>
      `${method} ${path} does not exist; ${path} supports ${listed(methods)}.`,
  ),
  path_misspelled: notFound(
    (method: string, path: string, nearest: string) =>
      `There is no ${method} ${path}; did you mean ${nearest}?`,
  ),
  operation_removed: answering(410)(
    (name: string, advice: string) => `${name} was removed from Helix; ${advice}.`,
  ),
  user_not_found: notFound((id: string) => `There is no user with the id "${id}".`),
  channel_busy: conflict(
    'Another publisher broadcasts on this channel; stop it first, or let a second one take over.',
  ),
  session_ended: conflict('The publish session has ended; start a new one.'),
  not_live: notFound<[login: string, soon?: 'starts soon']>(login => `The channel ${login} is not live.`, {
    headers: (_, soon) => (soon === undefined ? {} : retryAfter(1)),
  }),
  broadcast_elsewhere: notFound(
    (login: string) =>
      `The broadcast of ${login} is on another node, which viewers cannot reach: STRAND_MEDIA_URL is not set there.`,
  ),
  no_publisher: notFound(
    (login: string) => `The channel ${login} has no publisher that could be disconnected.`,
  ),
  vods_off: notFound(
    (login: string) => `The channel ${login} does not record videos, so it cannot have markers.`,
  ),
  not_suspended: notFound((login: string) => `The user "${login}" is not suspended.`),
  no_videos: notFound('The user has no videos.'),
  recording_runs: notFound(
    (id: string) =>
      `The broadcast still runs: /videos/${id}.m3u8 plays what is recorded, and the file follows when the stream has ended.`,
  ),
  video_not_found: notFound((id: string) => `There is no video with the id "${id}"`),
  not_found: notFound((kind: string, id: string) => `There is no ${kind} with the id "${id}".`),
  name_not_found: notFound((kind: string, name: string) => `There is no ${kind} called "${name}".`),
  token_not_found: notFound('There is no such token; it may have expired or been revoked.'),

  taken: conflict((field: string, value: string) => `The ${field} "${value}" is taken.`),
  user_suspended: conflict((login: string) => `The user "${login}" is suspended; end the suspension first.`),
  reserved_login: conflict((login: string) => `The login "${login}" is reserved: the server uses this path.`),
  too_many_markers: conflict(
    (most: number) =>
      `The video has more than ${most} markers, too many for one file; list them with GetStreamMarkers.`,
  ),
  too_many_stream_keys: conflict(
    (most: number) => `A channel has at most ${most} extra stream keys; delete one first.`,
  ),
  subscription_exists: conflict((_id: string) => 'subscription already exists', {
    fields: (id: string) => ({ id }),
  }),
  subscription_ended: conflict('The subscription has ended; the application has to make a new one.'),
  in_use: conflict((why: string) => why),
  campaign_published: conflict(
    (field: string, why: string) => `The campaign is published, so "${field}" ${why}.`,
    { input: (field, reason) => ({ field, reason }) },
  ),
  campaign_incomplete: conflict(
    (first: string, ...more: string[]) =>
      `The campaign cannot be published without ${listed([first, ...more].map(name => `"${name}"`))}.`,
  ),
  campaign_draft: conflict('The campaign is a draft; publish it first.'),
  too_many_campaigns: conflict(
    (most: number) => `At most ${most} campaigns of a game can run at the same time; choose other times.`,
  ),
  drop_not_reached: conflict(
    (minutes: number, required: number) =>
      `The drop is not reached: ${minutes} of ${required} minutes were watched.`,
  ),
  claim_closed: conflict('The drops of this campaign can no longer be claimed.'),
  entitlement_conflict: conflict(
    (id: string) => `The entitlement "${id}" already exists with different content; nothing was granted.`,
  ),

  body_too_large: answering(413)((bytes: number) => `The body must be at most ${bytes} bytes.`),
  upgrade_required: answering(426)('This is the address of a WebSocket; connect with ws:// or wss://.', {
    headers: { Upgrade: 'websocket' },
  }),
  rate_limited: tooMany((_seconds: number) => 'Request limit exceeded', { headers: retryAfter }),
  subscription_cost_exceeded: tooMany(
    (most: number) =>
      `The total cost of the subscriptions may be ${most} at most; delete some, or let users authorize the application.`,
    { headers: retryAfter(60) },
  ),
  too_many_subscriptions: tooMany((why: string) => why, { headers: retryAfter(60) }),
  internal: answering(500)('Internal error; the server logs the cause with the request id.'),
  unavailable: unavailable((_seconds?: number) => 'The service is unavailable; try again shortly.', {
    headers: (seconds = 1) => retryAfter(seconds),
  }),
  sockets_full: unavailable('This server has as many WebSockets as it can serve; try again shortly.', {
    headers: retryAfter(10),
  }),
  broadcast_late: unavailable('The broadcast has not come as far as was asked for.', {
    headers: retryAfter(1),
  }),
  viewers_full: unavailable('This server has as many viewers as it can serve; try again in a minute.', {
    headers: retryAfter(60),
  }),
  passwords_busy: unavailable('Too many passwords are being hashed; try again in a few seconds.', {
    headers: retryAfter(5),
  }),
  images_busy: unavailable('Too many pictures are being rendered; try again in a second.', {
    headers: retryAfter(1),
  }),

  no_room: answering(507)(
    (why: string) =>
      `The server cannot spool the lines (${why}). Free space in the spool folder, or set STRAND_SPOOL to a folder with more space.`,
  ),

  missing_client_id: badRequest('missing client id'),
  invalid_client: badRequest('invalid client'),
  missing_client_secret: badRequest('missing client secret'),
  invalid_client_secret: forbidden('invalid client secret'),
  too_many_attempts: tooMany('too many wrong secrets; try again in a few minutes', {
    headers: retryAfter(60),
  }),
  too_many_requests: tooMany((seconds: number) => `too many requests; try again in ${seconds} s`, {
    headers: retryAfter,
  }),
  malformed_basic: badRequest(
    'The header Authorization must be Basic with client id and secret, both form-encoded.',
  ),
  two_credentials: badRequest(
    'Client credentials must be sent once: as Authorization: Basic or as parameters.',
  ),
  missing_grant_type: badRequest('missing grant type'),
  unsupported_grant_type: badRequest((grant: string) => `unsupported grant type: '${grant}'`),
  public_client: badRequest('a public client cannot use client_credentials'),
  missing_code: badRequest('missing authorization code'),
  invalid_code: badRequest('Invalid authorization code'),
  other_redirect: badRequest('Parameter redirect_uri does not match registered URI'),
  wrong_verifier: badRequest('Invalid code verifier'),
  missing_device_code: badRequest('missing device code'),
  invalid_device_code: badRequest('invalid device code'),
  authorization_pending: badRequest('authorization_pending'),
  access_denied: badRequest('access_denied'),
  slow_down: tooMany((_seconds: number) => 'slow_down', { headers: retryAfter }),
  device_flow_off: badRequest('the device flow is off for this client; an operator can switch it on'),
  missing_refresh_token: badRequest('missing refresh token'),
  invalid_refresh_token: badRequest('Invalid refresh token'),
  invalid_scope: badRequest((scope: string) => `invalid scope requested: '${scope}'`),
  too_many_scopes: badRequest((most: number) => `too many scopes requested: at most ${most} are allowed`),
  missing_user_id: badRequest('missing user id'),
  unknown_user: badRequest((id: string) => `unknown user: '${id}'`),
  missing_authorization: unauthorized('missing authorization token', {
    headers: { 'WWW-Authenticate': 'OAuth realm="Strand"' },
  }),
  invalid_access_token: unauthorized('invalid access token', {
    headers: { 'WWW-Authenticate': 'OAuth realm="Strand", error="invalid_token"' },
  }),
  invalid_revoking_client: badRequest((id: string) => `Invalid client_id: ${id}`),
  missing_oauth_token: badRequest('missing oauth token'),
  /** In strict mode. */
  revoking_client_not_found: notFound('client does not exist'),
  token_not_revocable: badRequest('Invalid token'),
}

export type ProblemName = keyof typeof problems
export type ProblemDetails<N extends ProblemName> = Parameters<(typeof problems)[N]['message']>
export type ProblemWithoutDetails = {
  [N in ProblemName]: ProblemDetails<N> extends [] ? N : never
}[ProblemName]

/**
 * A failure as a value: the name of a problem and what its sentence is made of. It is plain data, so a command can return
 * it from the writer thread, and refuse without rolling back the commands that commit together with it.
 */
export type Refusal<N extends ProblemName = ProblemName> = N extends ProblemName
  ? { readonly problem: N; readonly details: ProblemDetails<N> }
  : never

export function refuse<N extends ProblemName>(problem: N, ...details: ProblemDetails<N>): Refusal<N> {
  return { problem, details } as unknown as Refusal<N>
}

/** No answer of an operation or command has a field called `problem`. */
export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'problem' in value
}

/** A refusal on its way to the caller, as status, sentence and headers. */
export class Problem extends Error {
  override readonly name: ProblemName
  readonly status: number
  readonly headers: Headers
  /** Fields of the error body beside the usual ones. */
  readonly fields: Fields
  readonly input: InputProblem | undefined

  constructor({ problem, details }: Refusal) {
    const { status, message, headers = {}, fields, input } = problems[problem] as ProblemRule<unknown[]>
    super(message(...details))
    this.name = problem
    this.status = status
    this.headers = typeof headers === 'function' ? headers(...details) : headers
    this.fields = fields?.(...details) ?? {}
    this.input = input?.(...details)
  }
}

export function problem<N extends ProblemName>(name: N, ...details: ProblemDetails<N>): Problem {
  return new Problem(refuse(name, ...details))
}

/**
 * Leaves the stack with a problem. Only for what is checked above a handler, such as tokens, malformed input and rate
 * limits, where a refusal that is returned and not looked at would let the request pass. Handlers return refusals.
 */
export function raise<N extends ProblemName>(name: N, ...details: ProblemDetails<N>): never {
  throw problem(name, ...details)
}

/** The reason phrase of each status, for the error body (D-4). */
export const reasonPhrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  410: 'Gone',
  413: 'Payload Too Large',
  426: 'Upgrade Required',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
  507: 'Insufficient Storage',
}
