/** Adds the contents of a scenario to the demo world, and describes them. The same seed gives the same ids. */
import { hashToken } from '../../auth/tokens.ts'
import type { Fault } from '../../contract/resources/fault.ts'
import { UUID_PATTERN } from '../../contract/resources/id.ts'
import type { Scenario } from '../../contract/resources/scenario.ts'
import { SCOPES } from '../../contract/scope.ts'
import type { StoredCampaign } from '../../domain/campaign.ts'
import { isoMillis, isoSeconds } from '../../kit/time/clock.ts'
import type { WatchingPlan } from '../../operations/demo/simulated-viewers.ts'
import type { Step } from '../../store/command-list.ts'
import type { Follow } from '../../store/commands/follows.ts'
import { demoDigest, demoSecret } from '../demo-secret.ts'
import type { ScenarioThing } from '../described-world.ts'
import { InvalidScenario } from '../invalid-scenario.ts'
import { type PlannedEvent, planEvents } from '../scenario-events.ts'
import { type Draft, issueToken, putUser, TOKEN_SECONDS } from './draft.ts'
import { planScenarioCampaigns } from './plan-campaigns.ts'
import { type Catalog, type Drop, inventedUuid, planCatalog, planDrop } from './plan-catalog.ts'
import { planGrants } from './plan-grants.ts'

export const WRITTEN_UUID = new RegExp(UUID_PATTERN)
const ALWAYS = 1_000_000
const HOUR = 3_600_000
/** Longer than a scenario can put a follow into the past. */
const OLD_ACCOUNT = 10_000 * HOUR

/** The world without the scenario. */
export interface ScenarioContext extends Draft {
  /** Users by role; a scenario may refer to them. */
  readonly roles: Readonly<Record<string, { readonly id: string }>>
  readonly own: Drop
  readonly others: Drop
  readonly campaign: StoredCampaign
  readonly catalog: Catalog
}

type Things = Readonly<Record<string, ScenarioThing>>

export interface ScenarioPlan {
  readonly steps: readonly Step[]
  readonly faults: readonly Fault[]
  readonly things: Things
  readonly events: readonly PlannedEvent[]
  readonly watching: readonly WatchingPlan[]
}

/** A scenario being planned, and its context. */
interface ScenarioDraft extends ScenarioContext {
  readonly faults: Fault[]
  /** The id of a user of the scenario, or of a role. */
  findId(person: string): string
}

export function planScenario(scenario: Scenario, context: ScenarioContext): ScenarioPlan {
  const { users = {}, entitlements = {}, tokens = {} } = scenario
  const { catalog } = context
  const findId = (person: string) =>
    context.roles[person]?.id ?? users[person]?.id ?? inventedUserId(person, context.seed)
  const draft: ScenarioDraft = { ...context, steps: [], faults: [], findId }
  const things: Things = {
    ...planCatalog(draft, catalog, scenario),
    ...planUsers(draft, users),
    ...planEntitlements(draft, entitlements),
    ...planTokens(draft, tokens),
    ...planGrants(draft, catalog, findId, scenario),
    ...planScenarioCampaigns(draft, scenario),
  }
  for (const fault of scenario.faults ?? []) draft.faults.push(withIds(fault, things))
  refuseTaken(context.steps, draft.steps, things)
  return {
    steps: draft.steps,
    faults: draft.faults,
    things,
    events: planEvents(scenario.events ?? [], draft),
    watching: (scenario.watching ?? []).map(({ user, channel, for_seconds }) => ({
      user_id: findId(user),
      channel_id: findId(channel),
      for_seconds,
    })),
  }
}

/** A fault with ids in place of the names of entries. */
function withIds(fault: Fault, things: Things): Fault {
  const findId = <T>(value: T) =>
    typeof value === 'string' && Object.hasOwn(things, value) ? (things[value]?.id ?? value) : value
  const { entitlement_id, where } = fault
  return {
    ...fault,
    ...(entitlement_id !== undefined && { entitlement_id: findId(entitlement_id) }),
    ...(where && {
      where: Object.fromEntries(Object.entries(where).map(([name, value]) => [name, findId(value)])),
    }),
  }
}

/** Rejects values that are already taken, by the demo or within the scenario. */
function refuseTaken(before: readonly Step[], steps: readonly Step[], things: Things): void {
  const taken = new Set(before.flatMap(listClaims).map(claim => claim.join(' ')))
  for (const claim of steps.flatMap(listClaims)) {
    const [kind, value] = claim
    if (taken.has(claim.join(' '))) {
      const { section, field, holds } = CLAIMS[kind]
      const name = Object.keys(things).findLast(each => holds(things[each] ?? {}, value) === value)
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
  organization: { section: 'organizations', field: 'id', holds: (thing: ScenarioThing) => thing.id },
  game: { section: 'games', field: 'id', holds: (thing: ScenarioThing) => thing.id },
  benefit: { section: 'benefits', field: 'id', holds: (thing: ScenarioThing) => thing.id },
  client: { section: 'clients', field: 'id', holds: (thing: ScenarioThing) => thing.id },
  campaign: { section: 'campaigns', field: 'id', holds: (thing: ScenarioThing) => thing.id },
  drop: {
    section: 'campaigns',
    field: 'drops.id',
    holds: (thing: ScenarioThing, value: string) => thing.drops?.find(drop => drop.id === value)?.id,
  },
} as const

function listClaims([name, args]: Step): (readonly [kind: keyof typeof CLAIMS, value: string])[] {
  if (name === 'putUser') {
    return [
      ['user', args.id],
      ['login', args.login ?? ''],
    ]
  }
  if (name === 'putOrganization') return [['organization', args.id]]
  if (name === 'putGame') return [['game', args.id]]
  if (name === 'putBenefit') return [['benefit', args.id]]
  if (name === 'createClient') return [['client', args.client.id]]
  if (name === 'putCampaign')
    return [['campaign', args.id], ...(args.content.drops ?? []).map(({ id }) => ['drop', id] as const)]
  if (name === 'startStream') return [['stream', args.stream_id]]
  if (name === 'grantEntitlements') return args.grants.map(({ id }) => ['entitlement', id])
  return []
}

/** The id of a user that has none in the scenario. It is greater than those of the demo's other users. */
function inventedUserId(name: string, seed: number): string {
  return String(900_000_000 + demoDigest(seed, `scenario user ${name}`).readUIntBE(0, 5))
}

function planUsers(draft: ScenarioDraft, users: NonNullable<Scenario['users']>): Things {
  const { steps, seed, now, findId } = draft
  const things: Record<string, ScenarioThing> = {}
  const follows: Follow[] = []
  for (const [name, user] of Object.entries(users)) {
    const id = findId(name)
    const login = user.login ?? name.toLowerCase()
    const display_name = user.display_name ?? login
    const { description, broadcaster_type, email } = user
    const profile = { display_name, description, broadcaster_type, email }
    putUser(draft, { id, login, ...profile, isNew: true, created: now - OLD_ACCOUNT })
    const { title, language, tags, game } = user.stream ?? {}
    const game_id = findGame(draft, game)
    steps.push(['changeChannel', { user_id: id, title, language, tags, game_id, video_id: '' }])
    for (let index = 0; index < (user.past_videos ?? 0); index++) {
      const began = now - (24 * (index + 1) + 1) * HOUR
      steps.push(['startStream', { user_id: id, ...streamIds(id, index + 1), started_at: isoSeconds(began) }])
      steps.push(['endStream', { user_id: id, now: began + HOUR }])
    }
    if (user.vod_enabled !== undefined)
      steps.push(['changeChannel', { user_id: id, vod_enabled: user.vod_enabled, video_id: '' }])
    const stream_id = user.stream && planStream(draft, id, user.stream)
    const token = demoSecret(seed, 'user', `scenario user ${name}`)
    const owner = { user_id: id, scopes: SCOPES, client_id: findClientId(draft, 'client') }
    issueToken(draft, now, { ...owner, token, name: token })
    things[name] = { id, login, token, ...(stream_id !== undefined && { stream_id }) }
    for (const followed of user.follows ?? []) follows.push(planFollow(draft, id, followed))
  }
  for (const [name, { editors = [] }] of Object.entries(users))
    for (const editor of editors)
      steps.push(['putEditor', { user_id: findId(name), editor_id: findId(editor), now }])
  if (follows.length > 0) steps.push(['putFollows', { follows, now }])
  return things
}

function planFollow(
  { findId, now }: ScenarioDraft,
  user_id: string,
  followed: string | { readonly user: string; readonly followed_seconds_ago: number },
): Follow {
  if (typeof followed === 'string') return { user_id, broadcaster_id: findId(followed) }
  const followed_at = isoSeconds(now - followed.followed_seconds_ago * 1000)
  return { user_id, broadcaster_id: findId(followed.user), followed_at }
}

/** The id of a game by its name; empty: no game. */
function findGame({ catalog, own }: ScenarioDraft, name: string | undefined): string {
  return name === undefined ? own.game_id : (catalog.games.get(name)?.id ?? '')
}

const findClientId = ({ catalog }: ScenarioDraft, name: string): string => catalog.clients.get(name)?.id ?? ''

type ScenarioStream = NonNullable<NonNullable<Scenario['users']>[string]['stream']>

function planStream({ steps, now }: ScenarioDraft, user_id: string, stream: ScenarioStream): string {
  const ids = streamIds(user_id, 0)
  const { id: stream_id = ids.stream_id, started_seconds_ago = 600, viewer_count = 1 } = stream
  const started_at = isoSeconds(now - started_seconds_ago * 1000)
  steps.push(['startStream', { ...ids, user_id, stream_id, started_at, viewer_count }])
  return stream_id
}

/** Derived from the id of the user, so that they are unique. */
function streamIds(user_id: string, index: number): { stream_id: string; video_id: string } {
  const tail = (BigInt(user_id) * 32n + BigInt(index)) % 10n ** 17n
  return { stream_id: String(4n * 10n ** 17n + tail), video_id: String(2n * 10n ** 17n + tail) }
}

function planEntitlements(draft: ScenarioDraft, entitlements: NonNullable<Scenario['entitlements']>): Things {
  const { steps, faults, now, findId } = draft
  const things: Record<string, ScenarioThing> = {}
  for (const [name, wanted] of Object.entries(entitlements)) {
    const { update_status = 'SUCCESS', granted_seconds_ago = 60, fulfillment_status } = wanted
    const entitlement_id = wanted.id ?? inventedEntitlementId(name, update_status, draft.seed)
    things[name] = { id: entitlement_id, update_status }
    if (update_status === 'INVALID_ID' || update_status === 'NOT_FOUND') continue
    const id = entitlement_id.toLowerCase()
    const { organization_id, ...drop } = dropFor(draft, wanted, `$.entitlements.${name}`)
    const timestamp = isoMillis(now - granted_seconds_ago * 1000)
    const grant = { id, user_id: findId(wanted.user ?? 'viewer'), ...drop, timestamp, timestampGiven: true }
    steps.push(['grantEntitlements', { grants: [grant] }])
    if (fulfillment_status === 'FULFILLED') {
      const reach = { organization_id }
      steps.push(['updateEntitlements', { ids: [id], fulfillment_status, reach, failing: [], now }])
    }
    if (update_status !== 'UPDATE_FAILED') continue
    const times = wanted.times ?? ALWAYS
    faults.push({ operation: 'UpdateDropsEntitlements', outcome: 'update_failed', entitlement_id, times })
  }
  return things
}

type ScenarioEntitlement = NonNullable<Scenario['entitlements']>[string]

/** An entitlement that the demo's client may not change belongs to another organization. */
function dropFor(draft: ScenarioDraft, wanted: ScenarioEntitlement, place: string): Drop {
  const isForeign = wanted.update_status === 'UNAUTHORIZED'
  if (isForeign && wanted.benefit === undefined && wanted.game === undefined) return draft.others
  const drop = planDrop(draft.catalog, wanted, place)
  if (!isForeign || drop.organization_id !== draft.own.organization_id) return drop
  throw new InvalidScenario(
    `${place}.benefit must belong to another organization than "client", to be UNAUTHORIZED`,
  )
}

function inventedEntitlementId(name: string, update_status: string, seed: number): string {
  return update_status === 'INVALID_ID' ? `no-valid-id-${name}` : inventedUuid(seed, `entitlement ${name}`)
}

function planTokens(draft: ScenarioDraft, tokens: NonNullable<Scenario['tokens']>): Things {
  const things: Record<string, ScenarioThing> = {}
  for (const [name, { kind = 'user', state = 'good', ...wanted }] of Object.entries(tokens)) {
    const token = demoSecret(draft.seed, kind, `scenario token ${name}`)
    const client_id = findClientId(draft, wanted.client ?? 'client')
    const user_id = kind === 'app' ? undefined : draft.findId(wanted.user ?? 'broadcaster')
    const scopes = kind === 'app' ? [] : (wanted.scopes ?? SCOPES)
    const seconds = wanted.expires_in ?? TOKEN_SECONDS
    // An expired token was issued longer ago than it lives.
    const issued = state === 'expired' ? draft.now - (seconds + 1) * 1000 : draft.now
    issueToken(draft, issued, { token, user_id, scopes, client_id, seconds, name: token })
    if (state === 'revoked') draft.steps.push(['revokeToken', { hash: hashToken(token) }])
    things[name] = { token, client_id, scopes, ...(user_id !== undefined && { user_id }) }
  }
  return things
}
