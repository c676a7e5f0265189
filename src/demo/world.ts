import type { StreamKeys } from '../auth/stream-keys.ts'
import { hashOf, issueAppToken, issueUserToken, type SecretKind } from '../auth/tokens.ts'
import type { Scenario } from '../contract/resources/scenario.ts'
import { SCOPES } from '../contract/scope.ts'
import { SeededRandom } from '../kit/random.ts'
import type { Fault } from '../operations/faults.ts'
import type { Step } from '../store/commands/index.ts'
import { demoRandom, demoSecret } from './demo-secret.ts'
import type { World, WorldClient } from './described-world.ts'
import { GAMES } from './names.ts'
import { displayName, inventPeople, type Person } from './people.ts'
import { planEntitlements } from './plan-drops.ts'
import { planScenario } from './plan-scenario.ts'
import { planPastVideo, planStream } from './plan-streams.ts'

const TOKEN_SECONDS = 60 * 24 * 3600
const MINUTE = 60_000

/** The users of the world that a scenario may refer to. */
export const ROLES = ['broadcaster', 'editor', 'offline', 'viewer'] as const

export interface WorldOptions {
  readonly seed: number
  /** Number of live channels. */
  readonly streams: number
  readonly scenario?: Scenario | undefined
}

/** The demo world: the commands that create it, and its description. The same options give the same ids and tokens. */
export interface WorldPlan {
  readonly options: WorldOptions
  readonly steps: readonly Step[]
  /** Faults that are planned at the start. */
  readonly faults: readonly Fault[]
  readonly world: Omit<World, 'base_url' | 'helix_url' | 'oauth_url' | 'control_url' | 'operator_token'>
  /** The channels whose viewer counts change. */
  readonly channels: readonly string[]
}

export function planWorld(options: WorldOptions, now: number, streamKeys: StreamKeys): WorldPlan {
  const random = new SeededRandom(options.seed)
  const secret = (kind: SecretKind, name: string) => demoSecret(options.seed, kind, name)
  const steps: Step[] = []

  const organization = { id: random.uuid(), name: 'Reef Interactive' }
  const other_organization = { id: random.uuid(), name: 'Northlight Games' }
  for (const each of [organization, other_organization]) steps.push(['putOrganization', each])

  const games = GAMES.map((name, index) => {
    const owner = index < 3 ? organization.id : index < 5 ? other_organization.id : null
    return { id: String(random.between(10_000, 999_999)), name, organization_id: owner }
  })
  for (const game of games) steps.push(['putGame', game])
  const ownGames = games.filter(game => game.organization_id === organization.id)
  const otherGames = games.filter(game => game.organization_id === other_organization.id)

  const benefits = ['Coral lantern', 'Tide cloak', 'Ferry pass'].map((name, index) => ({
    id: random.uuid(),
    name,
    organization_id: organization.id,
    game_id: ownGames[index]?.id ?? null,
  }))
  const otherBenefit = {
    id: random.uuid(),
    name: 'Orchard key',
    organization_id: other_organization.id,
    game_id: otherGames[0]?.id ?? null,
  }
  for (const benefit of [...benefits, otherBenefit]) steps.push(['putBenefit', benefit])

  const password = `reef-${demoRandom(options.seed, 'password', 10)}`
  const password_hash = demoPasswordHash(password)
  const people = inventPeople(random, options.streams + 40)
  people.forEach((person, index) => {
    const key = streamKeys.mint(person.id, 1, demoRandom(options.seed, `stream key ${person.id}`, 30)).stored
    const created = now - (400 + index) * 1000 * MINUTE
    steps.push([
      'putUser',
      {
        id: person.id,
        login: person.login,
        display_name: displayName(person.login),
        password_hash,
        stream_key: key,
        now: created,
      },
    ])
  })
  const [viewer, editor, offline, broadcaster, ...others] = people as [
    Person,
    Person,
    Person,
    Person,
    ...Person[],
  ]
  const live = [broadcaster, ...others].slice(0, Math.max(options.streams, 1))
  const crowd = people.filter(person => !live.includes(person))

  const client = planClient(steps, 'Reef drops back end', organization.id, now, options.seed)
  const other_client = planClient(steps, 'Northlight overlay', other_organization.id, now, options.seed)
  const tokens = new Map<string, string>()
  const holders = [viewer, editor, offline, ...live.slice(0, 6)]
  for (const person of holders) {
    const access = secret('user', person.login)
    const issue = issueUserToken(
      { client_id: client.id, user_id: person.id, scopes: SCOPES },
      now,
      { user_seconds: TOKEN_SECONDS, refresh_seconds: TOKEN_SECONDS },
      { access, refresh: secret('refresh', person.login) },
    )
    steps.push(['issueTokens', { tokens: issue.rows }])
    tokens.set(person.id, access)
  }

  steps.push(['putEditor', { user_id: broadcaster.id, editor_id: editor.id }])
  planPastVideo(steps, random, broadcaster, client.id, now)
  for (const [index, person] of live.entries())
    planStream(steps, random, person, index, games, client.id, now)
  planFollows(steps, random, viewer, crowd, live, offline)
  planEntitlements(
    steps,
    random,
    { people, benefits, games: ownGames, organization_id: organization.id, count: 120 },
    now,
  )
  planEntitlements(
    steps,
    random,
    {
      people,
      benefits: [otherBenefit],
      games: otherGames,
      organization_id: other_organization.id,
      count: 15,
    },
    now,
  )

  const scenario =
    options.scenario &&
    planScenario(options.scenario, {
      seed: options.seed,
      now,
      streamKeys,
      password_hash,
      before: steps,
      roles: { broadcaster, editor, offline, viewer } satisfies Record<(typeof ROLES)[number], Person>,
      own: { organization_id: organization.id, ...dropOf(benefits[0]) },
      others: { organization_id: other_organization.id, ...dropOf(otherBenefit) },
      clients: { client, other_client },
    })
  if (scenario !== undefined) steps.push(...scenario.steps)

  const known = ({ id, login }: Person) => ({ id, login, token: tokens.get(id) ?? '' })
  return {
    options,
    steps,
    faults: scenario?.faults ?? [],
    channels: live.map(person => person.id),
    world: {
      organization,
      other_organization: { id: other_organization.id },
      client,
      other_client,
      users: holders.map(person => ({ ...known(person), password, scopes: SCOPES })),
      broadcaster: known(broadcaster),
      editor: { id: editor.id, token: known(editor).token },
      offline: { id: offline.id, token: known(offline).token },
      viewer: { id: viewer.id, token: known(viewer).token },
      game: { id: ownGames[0]?.id ?? '' },
      benefit: { id: benefits[0]?.id ?? '' },
      ...(scenario && { scenario: scenario.things }),
    },
  }
}

/** A benefit with its game. */
function dropOf(benefit: { id: string; game_id: string | null } | undefined) {
  return { benefit_id: benefit?.id ?? '', game_id: benefit?.game_id ?? '' }
}

/** Cheaper than a real hash, because the password is public and the demo should start fast. */
function demoPasswordHash(password: string): string {
  return Bun.password.hashSync(password, { algorithm: 'argon2id', memoryCost: 1024, timeCost: 1 })
}

function planClient(
  steps: Step[],
  name: string,
  organization_id: string,
  now: number,
  seed: number,
): WorldClient {
  const id = demoRandom(seed, `client ${name}`, 30).toLowerCase()
  const secret = demoSecret(seed, 'secret', name)
  const app_token = demoSecret(seed, 'app', name)
  const client = {
    id,
    name,
    organization_id,
    owner_user_id: null,
    kind: 'confidential' as const,
    redirect_uris: ['http://localhost:3000/callback'],
    implicit_grant: false,
    device_flow: true,
  }
  steps.push(['createClient', { client, secret_hash: hashOf(secret) }])
  steps.push(['issueTokens', { tokens: issueAppToken(id, now, TOKEN_SECONDS, app_token).rows }])
  return { id, secret, app_token }
}

function planFollows(
  steps: Step[],
  random: SeededRandom,
  viewer: Person,
  crowd: readonly Person[],
  live: readonly Person[],
  offline: Person,
): void {
  const follows = live
    .filter((_, index) => index === 0 || random.next() < 0.3)
    .map(channel => ({ user_id: viewer.id, broadcaster_id: channel.id }))
  follows.push({ user_id: viewer.id, broadcaster_id: offline.id })
  for (const person of crowd) {
    if (person === viewer) continue
    for (let n = 0; n < 5; n++) follows.push({ user_id: person.id, broadcaster_id: random.pick(live).id })
  }
  steps.push(['putFollows', { follows }])
}
