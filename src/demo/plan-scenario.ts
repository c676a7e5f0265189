import type { StreamKeys } from '../auth/stream-keys.ts'
import { hashOf, issueAppToken, issueUserToken } from '../auth/tokens.ts'
import { UUID_PATTERN } from '../contract/resources/id.ts'
import type { Scenario } from '../contract/resources/scenario.ts'
import { SCOPES } from '../contract/scope.ts'
import { isoMillis, isoSeconds } from '../kit/clock.ts'
import type { Fault } from '../operations/faults.ts'
import type { Step } from '../store/commands/index.ts'
import { demoDigest, demoRandom, demoSecret } from './demo-secret.ts'
import type { ScenarioThing } from './described-world.ts'
import { InvalidScenario } from './invalid-scenario.ts'

/** Adds a scenario to the demo world and returns its entries by name. The same seed gives the same ids. */

export const WRITTEN_UUID = new RegExp(UUID_PATTERN)
const ALWAYS = 1_000_000
const TOKEN_SECONDS = 60 * 24 * 3600
const HOUR = 3_600_000

type Users = NonNullable<Scenario['users']>
type Entitlements = NonNullable<Scenario['entitlements']>
type Tokens = NonNullable<Scenario['tokens']>

/** The parts of the world that a scenario uses. */
export interface ScenarioContext {
  readonly seed: number
  readonly now: number
  readonly streamKeys: StreamKeys
  readonly password_hash: string
  /** The steps that create the world without the scenario; their ids are taken. */
  readonly before: readonly Step[]
  /** Users by the roles under which a scenario may refer to them. */
  readonly roles: Readonly<Record<string, { readonly id: string }>>
  readonly own: Drop
  readonly others: Drop
  readonly clients: {
    readonly client: { readonly id: string }
    readonly other_client: { readonly id: string }
  }
}

interface Drop {
  readonly organization_id: string
  readonly benefit_id: string
  readonly game_id: string
}

export interface ScenarioPlan {
  readonly steps: readonly Step[]
  readonly faults: readonly Fault[]
  readonly things: Readonly<Record<string, ScenarioThing>>
}

export function planScenario(scenario: Scenario, around: ScenarioContext): ScenarioPlan {
  const steps: Step[] = []
  const faults: Fault[] = []
  const { users = {}, entitlements = {}, tokens = {} } = scenario
  const idOf = (person: string) => around.roles[person]?.id ?? userIdOf(person, users, around.seed)
  const things: Record<string, ScenarioThing> = {
    ...planUsers(steps, users, idOf, around),
    ...planEntitlements(steps, faults, entitlements, idOf, around),
    ...planTokens(steps, tokens, idOf, around),
  }
  for (const { entitlement, ...fault } of scenario.faults ?? []) {
    faults.push({ ...fault, entitlement_id: entitlement && things[entitlement]?.id, times: fault.times ?? 1 })
  }
  refuseTaken(around.before, steps, things)
  return { steps, faults, things }
}

/** Rejects ids and logins that the world or the scenario already uses. */
function refuseTaken(
  before: readonly Step[],
  steps: readonly Step[],
  things: Readonly<Record<string, ScenarioThing>>,
): void {
  const taken = new Set(before.flatMap(claimsOf).map(claim => claim.join(' ')))
  for (const claim of steps.flatMap(claimsOf)) {
    const [kind, value] = claim
    if (taken.has(claim.join(' '))) {
      const { section, field, holds } = CLAIMS[kind]
      const name = Object.keys(things).findLast(each => holds(things[each] ?? {}) === value)
      throw new InvalidScenario(`$.${section}.${name}.${field} is "${value}", which is taken: choose another`)
    }
    taken.add(claim.join(' '))
  }
}

/** Values that must be unique, and their place in a scenario. */
const CLAIMS = {
  user: { section: 'users', field: 'id', holds: (thing: ScenarioThing) => thing.id },
  login: { section: 'users', field: 'login', holds: (thing: ScenarioThing) => thing.login },
  stream: { section: 'users', field: 'stream.id', holds: (thing: ScenarioThing) => thing.stream_id },
  entitlement: {
    section: 'entitlements',
    field: 'id',
    holds: (thing: ScenarioThing) => thing.id?.toLowerCase(),
  },
} as const

function claimsOf([name, args]: Step): (readonly [kind: keyof typeof CLAIMS, value: string])[] {
  if (name === 'putUser') {
    return [
      ['user', args.id],
      ['login', args.login ?? ''],
    ]
  }
  if (name === 'startStream') return [['stream', args.stream_id]]
  if (name === 'grantEntitlements') return args.grants.map(({ id }) => ['entitlement', id])
  return []
}

/** The id of a user: the given one, or one derived from the name, above the ids of the demo's users. */
function userIdOf(name: string, users: Users, seed: number): string {
  return users[name]?.id ?? String(900_000_000 + demoDigest(seed, `scenario user ${name}`).readUIntBE(0, 5))
}

function planUsers(
  steps: Step[],
  users: Users,
  idOf: (person: string) => string,
  around: ScenarioContext,
): Record<string, ScenarioThing> {
  const things: Record<string, ScenarioThing> = {}
  const follows: { user_id: string; broadcaster_id: string }[] = []
  for (const [name, user] of Object.entries(users)) {
    const id = idOf(name)
    const login = user.login ?? name.toLowerCase()
    planUser(steps, id, login, user, around)
    const token = demoSecret(around.seed, 'user', `scenario user ${name}`)
    const stream_id = user.stream && planStreams(steps, id, user, around)
    planToken(steps, { token, user_id: id, scopes: SCOPES, client_id: around.clients.client.id }, around)
    things[name] = { id, login, token, ...(stream_id !== undefined && { stream_id }) }
    for (const followed of user.follows ?? []) follows.push({ user_id: id, broadcaster_id: idOf(followed) })
  }
  if (follows.length > 0) steps.push(['putFollows', { follows }])
  return things
}

function planUser(
  steps: Step[],
  id: string,
  login: string,
  user: Users[string],
  around: ScenarioContext,
): void {
  const { now, seed, streamKeys, password_hash } = around
  steps.push([
    'putUser',
    {
      id,
      isNew: true,
      login,
      display_name: user.display_name ?? login,
      password_hash,
      stream_key: streamKeys.mint(id, 1, demoRandom(seed, `stream key ${id}`, 30)).stored,
      now: now - 1000 * HOUR,
    },
  ])
  for (let index = 0; index < (user.past_videos ?? 0); index++) {
    const began = now - (24 * (index + 1) + 1) * HOUR
    steps.push(['startStream', { user_id: id, ...streamIds(id, index + 1), started_at: isoSeconds(began) }])
    steps.push(['endStream', { user_id: id, now: began + HOUR }])
  }
  const { title, language } = user.stream ?? {}
  steps.push([
    'changeChannel',
    {
      user_id: id,
      title,
      language,
      game_id: around.own.game_id,
      vod_enabled: user.vod_enabled,
      video_id: '',
    },
  ])
}

function planStreams(
  steps: Step[],
  user_id: string,
  { stream = {} }: Users[string],
  { now }: ScenarioContext,
): string {
  const ids = streamIds(user_id, 0)
  const stream_id = stream.id ?? ids.stream_id
  const started_at = isoSeconds(now - (stream.started_seconds_ago ?? 600) * 1000)
  steps.push([
    'startStream',
    { user_id, stream_id, video_id: ids.video_id, started_at, viewer_count: stream.viewer_count ?? 1 },
  ])
  return stream_id
}

/** Ids derived from the user's id, so that they are unique. */
function streamIds(user_id: string, index: number): { stream_id: string; video_id: string } {
  const tail = (BigInt(user_id) * 32n + BigInt(index)) % 10n ** 17n
  return { stream_id: String(4n * 10n ** 17n + tail), video_id: String(2n * 10n ** 17n + tail) }
}

function planEntitlements(
  steps: Step[],
  faults: Fault[],
  entitlements: Entitlements,
  idOf: (person: string) => string,
  around: ScenarioContext,
): Record<string, ScenarioThing> {
  const things: Record<string, ScenarioThing> = {}
  for (const [name, entitlement] of Object.entries(entitlements)) {
    const update_status = entitlement.update_status ?? 'SUCCESS'
    const id = entitlement.id ?? entitlementIdOf(name, update_status, around.seed)
    things[name] = { id, update_status }
    if (update_status === 'INVALID_ID' || update_status === 'NOT_FOUND') continue
    const drop = update_status === 'UNAUTHORIZED' ? around.others : around.own
    planEntitlement(
      steps,
      id.toLowerCase(),
      entitlement,
      idOf(entitlement.user ?? 'viewer'),
      drop,
      around.now,
    )
    if (update_status !== 'UPDATE_FAILED') continue
    const times = entitlement.times ?? ALWAYS
    faults.push({ operation: 'UpdateDropsEntitlements', outcome: 'update_failed', entitlement_id: id, times })
  }
  return things
}

function entitlementIdOf(name: string, update_status: string, seed: number): string {
  if (update_status === 'INVALID_ID') return `no-valid-id-${name}`
  const hex = demoDigest(seed, `scenario entitlement ${name}`).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function planEntitlement(
  steps: Step[],
  id: string,
  { granted_seconds_ago = 60, fulfillment_status }: Entitlements[string],
  user_id: string,
  { organization_id, benefit_id, game_id }: Drop,
  now: number,
): void {
  const timestamp = isoMillis(now - granted_seconds_ago * 1000)
  const grant = { id, user_id, benefit_id, game_id, timestamp, timestampGiven: true }
  steps.push(['grantEntitlements', { grants: [grant] }])
  if (fulfillment_status !== 'FULFILLED') return
  const reach = { organization_id }
  steps.push(['updateEntitlements', { ids: [id], fulfillment_status, reach, failing: [], now }])
}

function planTokens(
  steps: Step[],
  tokens: Tokens,
  idOf: (person: string) => string,
  around: ScenarioContext,
): Record<string, ScenarioThing> {
  const things: Record<string, ScenarioThing> = {}
  for (const [name, { kind = 'user', state = 'good', ...wanted }] of Object.entries(tokens)) {
    const token = demoSecret(around.seed, kind, `scenario token ${name}`)
    const client_id = around.clients[wanted.client ?? 'client'].id
    const user_id = kind === 'app' ? undefined : idOf(wanted.user ?? 'broadcaster')
    const scopes = kind === 'app' ? [] : (wanted.scopes ?? SCOPES)
    const expires_in = wanted.expires_in ?? TOKEN_SECONDS
    // An expired token was issued more than its lifetime ago.
    const now = state === 'expired' ? around.now - (expires_in + 1) * 1000 : around.now
    planToken(steps, { token, user_id, scopes, client_id, expires_in }, { ...around, now })
    if (state === 'revoked') steps.push(['revokeToken', { hash: hashOf(token) }])
    things[name] = { token, client_id, scopes, ...(user_id !== undefined && { user_id }) }
  }
  return things
}

function planToken(
  steps: Step[],
  token: {
    readonly token: string
    readonly user_id: string | undefined
    readonly scopes: readonly string[]
    readonly client_id: string
    readonly expires_in?: number
  },
  { now, seed }: ScenarioContext,
): void {
  const { client_id, user_id, scopes, expires_in = TOKEN_SECONDS } = token
  const issue =
    user_id === undefined
      ? issueAppToken(client_id, now, expires_in, token.token)
      : issueUserToken(
          { client_id, user_id, scopes },
          now,
          { user_seconds: expires_in, refresh_seconds: expires_in },
          { access: token.token, refresh: demoSecret(seed, 'refresh', token.token) },
        )
  steps.push(['issueTokens', { tokens: issue.rows }])
}
