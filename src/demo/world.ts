import type { StreamKeys } from '../auth/stream-keys.ts'
import { hashToken } from '../auth/tokens.ts'
import type { Fault } from '../contract/resources/fault.ts'
import type { Scenario } from '../contract/resources/scenario.ts'
import { SCOPES } from '../contract/scope.ts'
import { SeededRandom } from '../kit/random.ts'
import type { WatchingPlan } from '../operations/demo/simulated-viewers.ts'
import type { Step } from '../store/command-list.ts'
import { demoRandom, demoSecret } from './demo-secret.ts'
import type { World, WorldClient } from './described-world.ts'
import { GAMES, OTHER_NAME } from './names.ts'
import { type Draft, issueToken, putUser } from './plan/draft.ts'
import { inventPeople, type Person } from './plan/people.ts'
import { planCampaign } from './plan/plan-campaigns.ts'
import { planEntitlements } from './plan/plan-drops.ts'
import { planScenario } from './plan/plan-scenario.ts'
import { planPastVideo, planStream } from './plan/plan-streams.ts'
import { inventIgdbId, inventProfile, inventTime, planEarlierVideos, profileRandom } from './profiles.ts'
import type { PlannedEvent } from './scenario-events.ts'

const MINUTE = 60_000

/** The users of the world that a scenario may refer to. */
export const ROLES = ['broadcaster', 'editor', 'offline', 'viewer'] as const

export interface WorldOptions {
  readonly seed: number
  /** How many channels are live. */
  readonly streams: number
  readonly scenario?: Scenario | undefined
}

/** The commands that create the world, and its description. The same options give the same ids and tokens. */
export interface WorldPlan {
  readonly options: WorldOptions
  readonly steps: readonly Step[]
  /** Failures that are planned from the start. */
  readonly faults: readonly Fault[]
  readonly world: Omit<World, 'base_url' | 'helix_url' | 'oauth_url' | 'control_url' | 'operator_token'>
  /** Changes that the scenario plans for later. */
  readonly events: readonly PlannedEvent[]
  /** Simulated viewers of the scenario. */
  readonly watching: readonly WatchingPlan[]
  /** The channels whose viewer counts change. */
  readonly channels: readonly string[]
}

export function planWorld(options: WorldOptions, now: number, streamKeys: StreamKeys): WorldPlan {
  const { seed } = options
  const random = new SeededRandom(seed)
  const profiles = profileRandom(seed)
  const password = `reef-${demoRandom(seed, 'password', 10)}`
  const steps: Step[] = []
  const draft: Draft = { steps, seed, now, streamKeys, password_hash: demoPasswordHash(password) }

  const organization = { id: random.uuid(), name: 'Reef Interactive' }
  const other_organization = { id: random.uuid(), name: 'Northlight Games' }
  for (const each of [organization, other_organization]) steps.push(['putOrganization', each])

  const games = GAMES.map((name, index) => {
    const owner = index < 3 ? organization.id : index < 5 ? other_organization.id : null
    const igdb_id = inventIgdbId(profiles, index)
    return { id: String(random.between(10_000, 999_999)), name, organization_id: owner, igdb_id }
  })
  for (const game of games) steps.push(['putGame', game])
  const own = planBenefits(random, organization.id, games, ['Coral lantern', 'Tide cloak', 'Ferry pass'])
  const others = planBenefits(random, other_organization.id, games, ['Orchard key'])
  for (const benefit of [...own.benefits, ...others.benefits]) steps.push(['putBenefit', benefit])
  const campaign = planCampaign(draft, describeDrop(own))

  const people = inventPeople(random, options.streams + 40)
  const [viewer, editor, offline, broadcaster] = people as [Person, Person, Person, Person]
  const live = people.slice(3, 3 + Math.max(options.streams, 1))
  const partners = new Set<Person>()
  for (const [index, person] of people.entries()) {
    const created = now - (400 + index) * 1000 * MINUTE
    const profile = inventProfile(profiles, person, {
      isFirstBroadcaster: person === broadcaster,
      isLive: live.includes(person),
      otherName: person === people.at(-1) ? OTHER_NAME : undefined,
    })
    if (profile.broadcaster_type === 'partner') partners.add(person)
    putUser(draft, { ...person, ...profile, created })
  }
  const crowd = people.filter(person => !live.includes(person))

  const client = planClient(draft, 'Reef drops back end', organization.id)
  const other_client = planClient(draft, 'Northlight overlay', other_organization.id)
  const holders = [viewer, editor, offline, ...live.slice(0, 6)]
  const userToken = ({ login }: Person) => demoSecret(seed, 'user', login)
  for (const person of holders) {
    const owner = { client_id: client.id, user_id: person.id, scopes: SCOPES }
    issueToken(draft, now, { ...owner, token: userToken(person), name: person.login })
  }

  const created_at = inventTime(profiles, now)
  steps.push(['putEditor', { user_id: broadcaster.id, editor_id: editor.id, created_at, now }])
  const streaming = { ...draft, random, profiles, client_id: client.id }
  planPastVideo(streaming, broadcaster)
  for (const [index, person] of live.entries())
    planStream(streaming, person, index, games, partners.has(person))
  // The second channel keeps no videos.
  planEarlierVideos(
    draft,
    profiles,
    live.slice(0, 6).filter((_, index) => index !== 1),
    games,
  )
  const follows = inventFollows(random, viewer, crowd, live, offline)
  const dated = follows.map(follow => ({ ...follow, followed_at: inventTime(profiles, now) }))
  steps.push(['putFollows', { follows: dated, now }])
  planEntitlements(draft, random, { ...own, people, count: 120 })
  planEntitlements(draft, random, { ...others, people, count: 15 })

  const scenario =
    options.scenario &&
    planScenario(options.scenario, {
      ...draft,
      roles: { broadcaster, editor, offline, viewer } satisfies Record<(typeof ROLES)[number], Person>,
      own: describeDrop(own),
      others: describeDrop(others),
      campaign,
      catalog: {
        organizations: new Map(Object.entries({ organization, other_organization })),
        games: new Map(games.map(game => [game.name, game])),
        benefits: new Map(own.benefits.slice(0, 1).map(benefit => ['benefit', benefit])),
        clients: new Map([
          ['client', { id: client.id, organization_id: organization.id }],
          ['other_client', { id: other_client.id, organization_id: other_organization.id }],
        ]),
      },
    })
  if (scenario !== undefined) steps.push(...scenario.steps)

  const withToken = (person: Person) => ({ id: person.id, token: userToken(person) })
  return {
    options,
    steps,
    faults: scenario?.faults ?? [],
    events: scenario?.events ?? [],
    watching: scenario?.watching ?? [],
    channels: live.map(person => person.id),
    world: {
      organization,
      other_organization: { id: other_organization.id },
      client,
      other_client,
      users: holders.map(person => ({ ...person, token: userToken(person), password, scopes: SCOPES })),
      broadcaster: { ...broadcaster, token: userToken(broadcaster) },
      editor: withToken(editor),
      offline: withToken(offline),
      viewer: withToken(viewer),
      game: { id: describeDrop(own).game_id },
      benefit: { id: describeDrop(own).benefit_id },
      campaign: {
        id: campaign.id,
        drops: campaign.drops.map(({ id, name, required_minutes }) => ({ id, name, required_minutes })),
      },
      ...(scenario && { scenario: scenario.things }),
    },
  }
}

interface Benefits {
  readonly organization_id: string
  readonly games: readonly { id: string }[]
  readonly benefits: readonly { id: string; organization_id: string; game_id: string | null }[]
}

/** The benefits of an organization, each with one of its games. */
function planBenefits(
  random: SeededRandom,
  organization_id: string,
  all: readonly { id: string; organization_id: string | null }[],
  names: readonly string[],
): Benefits {
  const games = all.filter(game => game.organization_id === organization_id)
  const benefits = names.map((name, index) => {
    return { id: random.uuid(), name, organization_id, game_id: games[index]?.id ?? null }
  })
  return { organization_id, games, benefits }
}

/** The first benefit with its game. */
function describeDrop({ organization_id, benefits: [benefit] }: Benefits) {
  return { organization_id, benefit_id: benefit?.id ?? '', game_id: benefit?.game_id ?? '' }
}

/** Cheaper than a real one, because the password is no secret and the demo should start quickly. */
function demoPasswordHash(password: string): string {
  return Bun.password.hashSync(password, { algorithm: 'argon2id', memoryCost: 1024, timeCost: 1 })
}

function planClient(draft: Draft, name: string, organization_id: string): WorldClient {
  const { steps, seed, now } = draft
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
  steps.push(['createClient', { client, secret_hash: hashToken(secret) }])
  issueToken(draft, now, { token: app_token, client_id: id, name })
  return { id, secret, app_token }
}

/** The viewer follows some who are live and one who is not; everyone else in the crowd follows five. */
function inventFollows(
  random: SeededRandom,
  viewer: Person,
  crowd: readonly Person[],
  live: readonly Person[],
  offline: Person,
) {
  const follows = live
    .filter((_, index) => index === 0 || random.next() < 0.3)
    .map(channel => ({ user_id: viewer.id, broadcaster_id: channel.id }))
  follows.push({ user_id: viewer.id, broadcaster_id: offline.id })
  for (const person of crowd) {
    if (person === viewer) continue
    for (let n = 0; n < 5; n++) follows.push({ user_id: person.id, broadcaster_id: random.pick(live).id })
  }
  return follows
}
