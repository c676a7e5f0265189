import { createHash } from 'node:crypto'
import type { StreamKeys } from '../auth/stream-keys.ts'
import { hashOf, issueAppToken, issueUserToken, mintSecret, type SecretKind } from '../auth/tokens.ts'
import { SCOPES } from '../contract/scope.ts'
import { isoMillis, isoSeconds } from '../kit/clock.ts'
import { alphanumericsFrom } from '../kit/id.ts'
import { SeededRandom } from '../kit/random.ts'
import type { Step } from '../store/commands/index.ts'
import { ADJECTIVES, ANIMALS, GAMES, LANGUAGES, MARKERS, TAGS, TITLES } from './names.ts'

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
  readonly users: readonly { id: string; login: string; token: string; scopes: readonly string[] }[]
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

interface Person {
  readonly id: string
  readonly login: string
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
      users: holders.map(person => ({ ...known(person), scopes: SCOPES })),
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
  }
  steps.push(['createClient', { client, secret_hash: hashOf(secret) }])
  steps.push(['issueTokens', { tokens: issueAppToken(id, now, TOKEN_SECONDS, app_token).rows }])
  return { id, secret, app_token }
}

function inventPeople(random: SeededRandom, count: number): Person[] {
  const people: Person[] = []
  const taken = new Set<string>()
  let id = random.between(100_000_000, 200_000_000)
  while (people.length < count) {
    const name = `${random.pick(ADJECTIVES)}_${random.pick(ANIMALS)}`
    const login = taken.has(name) ? `${name}_${people.length}` : name
    taken.add(login)
    id += random.between(1, 90_000)
    people.push({ id: String(id), login })
  }
  return people
}

function displayName(login: string): string {
  return login.replace(/(^|_)([a-z])/g, (_, gap: string, letter: string) => gap + letter.toUpperCase())
}

/** A stream that ran yesterday and left a video with markers. */
function planPastVideo(
  steps: Step[],
  random: SeededRandom,
  person: Person,
  client_id: string,
  now: number,
): void {
  const began = now - 1500 * MINUTE
  steps.push(['startStream', streamOf(random, person, began, false)])
  planMarkers(steps, random, person, client_id, began, 8)
  steps.push(['endStream', { user_id: person.id, now: began + 120 * MINUTE }])
}

function planStream(
  steps: Step[],
  random: SeededRandom,
  person: Person,
  index: number,
  games: readonly { id: string }[],
  client_id: string,
  now: number,
): void {
  const began = now - random.between(5, 600) * MINUTE
  steps.push([
    'changeChannel',
    {
      user_id: person.id,
      title: random.pick(TITLES),
      // The broadcaster of the world plays the world's game; now and then somebody plays none.
      game_id: index === 0 ? (games[0]?.id ?? '') : random.next() < 0.05 ? '' : random.pick(games).id,
      language: random.pick(LANGUAGES),
      tags: [...new Set([random.pick(TAGS), random.pick(TAGS)])],
      is_mature: random.next() < 0.1,
      vod_enabled: index !== 1,
      video_id: '',
    },
  ])
  const viewer_count = Math.floor(20_000 / (index + 1)) + random.between(0, 40)
  steps.push(['startStream', { ...streamOf(random, person, began), viewer_count }])
  if (index === 0) planMarkers(steps, random, person, client_id, began, 25)
}

/** Ids follow from the person, so that no two are the same however many are live. */
function streamOf(random: SeededRandom, person: Person, began: number, again = true) {
  return {
    user_id: person.id,
    stream_id: String(40_000_000_000 + Number(person.id) * 10 + random.between(0, 4) + (again ? 5 : 0)),
    video_id: String(1_000_000_000 + Number(person.id) * 10 + random.between(0, 4) + (again ? 5 : 0)),
    started_at: isoSeconds(began),
  }
}

function planMarkers(
  steps: Step[],
  random: SeededRandom,
  person: Person,
  client_id: string,
  began: number,
  count: number,
): void {
  for (let index = 1; index <= count; index++) {
    steps.push([
      'createMarker',
      {
        marker_id: random.hex(32),
        broadcaster_id: person.id,
        description: random.pick(MARKERS),
        caller: { client_id, user_id: person.id },
        now: began + index * 10_000,
      },
    ])
  }
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

function planEntitlements(
  steps: Step[],
  random: SeededRandom,
  of: {
    people: readonly Person[]
    benefits: readonly { id: string }[]
    games: readonly { id: string }[]
    organization_id: string
    count: number
  },
  now: number,
): void {
  const grants = Array.from({ length: of.count }, (_, index) => ({
    id: random.uuid(),
    user_id: (of.people[index % 8] as Person).id,
    benefit_id: random.pick(of.benefits).id,
    game_id: random.pick(of.games).id,
    timestamp: isoMillis(now - random.between(1, 10_000) * MINUTE),
    timestampGiven: true,
  }))
  steps.push(['grantEntitlements', { grants }])
  const ids = grants.filter((_, index) => index % 3 === 0).map(grant => grant.id)
  const reach = { organization_id: of.organization_id }
  steps.push(['updateEntitlements', { ids, fulfillment_status: 'FULFILLED', reach, failing: [], now }])
}
