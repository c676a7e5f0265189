import { createHash } from 'node:crypto'
import type { StreamKeys } from '../auth/stream-keys.ts'
import { hashOf, issueAppToken, issueUserToken, mintSecret, type SecretKind } from '../auth/tokens.ts'
import { SCOPES } from '../contract/scope.ts'
import { alphanumericsFrom } from '../kit/id.ts'
import { SeededRandom } from '../kit/random.ts'
import type { Step } from '../store/commands/index.ts'
import { GAMES } from './names.ts'
import { displayName, inventPeople, type Person } from './people.ts'
import { planEntitlements } from './plan-drops.ts'
import { planPastVideo, planStream } from './plan-streams.ts'

const TOKEN_SECONDS = 60 * 24 * 3600
const MINUTE = 60_000

/** What a person or a test needs to use the demo: printed, and written as JSON by `--world`. */
export interface World {
  readonly base_url: string
  readonly helix_url: string
  readonly oauth_url: string
  readonly control_url: string
  readonly operator_token: string
  readonly organization: { readonly id: string; readonly name: string }
  readonly other_organization: { readonly id: string }
  readonly client: WorldClient
  readonly other_client: WorldClient
  readonly users: readonly {
    id: string
    login: string
    password: string
    token: string
    scopes: readonly string[]
  }[]
  readonly broadcaster: { readonly id: string; readonly login: string; readonly token: string }
  readonly editor: { readonly id: string; readonly token: string }
  readonly offline: { readonly id: string; readonly token: string }
  readonly viewer: { readonly id: string; readonly token: string }
  readonly game: { readonly id: string }
  readonly benefit: { readonly id: string }
}

interface WorldClient {
  readonly id: string
  readonly secret: string
  readonly app_token: string
}

export interface WorldOptions {
  readonly seed: number
  /** How many channels are live. */
  readonly streams: number
}

/** The world as commands that make it, and as what is told of it. The same options give the same ids and tokens. */
export interface WorldPlan {
  readonly options: WorldOptions
  readonly steps: readonly Step[]
  readonly world: Omit<World, 'base_url' | 'helix_url' | 'oauth_url' | 'control_url' | 'operator_token'>
  /** The channels whose viewer counts move. */
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

  const known = ({ id, login }: Person) => ({ id, login, token: tokens.get(id) ?? '' })
  return {
    options,
    steps,
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
    },
  }
}

/** A secret of the demo: the same for the same seed, so that lines from the README work. */
export function demoSecret(seed: number, kind: SecretKind, name: string): string {
  return mintSecret(kind, demoRandom(seed, `${kind} ${name}`, 32))
}

function demoRandom(seed: number, name: string, length: number): string {
  return alphanumericsFrom(createHash('sha512').update(`strand demo ${seed} ${name}`).digest(), length)
}

/** Cheaper than a real one, because the password is no secret: the demo starts at once. */
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
