/** Organizations, games, benefits and clients of a scenario, and what its other entries call them. */
import { hashToken } from '../../auth/tokens.ts'
import type { Scenario } from '../../contract/resources/scenario.ts'
import { demoDigest, demoRandom, demoSecret } from '../demo-secret.ts'
import type {
  ScenarioBenefitEntry,
  ScenarioClientEntry,
  ScenarioNamedEntry,
  ScenarioThing,
} from '../described-world.ts'
import { InvalidScenario } from '../invalid-scenario.ts'
import { type Draft, issueToken } from './draft.ts'

interface CatalogGame extends ScenarioNamedEntry {
  readonly organization_id: string | null
}

interface CatalogBenefit {
  readonly id: string
  readonly organization_id: string
  readonly game_id: string | null
}

/** Those of the demo to begin with, by the names that a scenario uses. */
export interface Catalog {
  readonly organizations: Map<string, { readonly id: string }>
  readonly games: Map<string, CatalogGame>
  readonly benefits: Map<string, CatalogBenefit>
  readonly clients: Map<string, { readonly id: string; readonly organization_id: string | null }>
}

/** What an entitlement grants. */
export interface Drop {
  readonly organization_id: string
  readonly benefit_id: string
  readonly game_id: string
}

/** Adds the entries of a scenario to the catalog. */
export function planCatalog(
  draft: Draft,
  catalog: Catalog,
  scenario: Scenario,
): Record<string, ScenarioThing> {
  return {
    ...planOrganizations(draft, catalog, scenario),
    ...planGames(draft, catalog, scenario),
    ...planBenefits(draft, catalog, scenario),
    ...planClients(draft, catalog, scenario),
  }
}

function planOrganizations({ steps, seed }: Draft, catalog: Catalog, { organizations = {} }: Scenario) {
  const things: Record<string, ScenarioNamedEntry> = {}
  for (const [entry, { id = inventedUuid(seed, `organization ${entry}`), name = entry }] of Object.entries(
    organizations,
  )) {
    things[entry] = { id: id.toLowerCase(), name }
    catalog.organizations.set(entry, things[entry])
    steps.push(['putOrganization', things[entry]])
  }
  return things
}

function planGames({ steps, seed }: Draft, catalog: Catalog, { games = {} }: Scenario) {
  const things: Record<string, ScenarioNamedEntry> = {}
  for (const [entry, { organization, name = entry, ...wanted }] of Object.entries(games)) {
    // Greater than the ids of the demo's games.
    const id = wanted.id ?? String(1_000_000 + demoDigest(seed, `scenario game ${entry}`).readUIntBE(0, 4))
    const organization_id = (organization && catalog.organizations.get(organization)?.id) ?? null
    things[entry] = { id, name }
    catalog.games.set(entry, { id, name, organization_id })
    steps.push(['putGame', { id, name, organization_id }])
  }
  return things
}

function planBenefits({ steps, seed }: Draft, catalog: Catalog, { benefits = {} }: Scenario) {
  const things: Record<string, ScenarioBenefitEntry> = {}
  for (const [entry, wanted] of Object.entries(benefits)) {
    const { name = entry, organization = 'organization', game } = wanted
    const id = (wanted.id ?? inventedUuid(seed, `benefit ${entry}`)).toLowerCase()
    const organization_id = catalog.organizations.get(organization)?.id ?? ''
    const game_id = game === undefined ? null : gameFor(catalog, organization_id, game, `$.benefits.${entry}`)
    things[entry] = { id, name, organization_id }
    catalog.benefits.set(entry, { id, organization_id, game_id })
    steps.push(['putBenefit', { id, name, organization_id, game_id }])
  }
  return things
}

function planClients(draft: Draft, catalog: Catalog, { clients = {} }: Scenario) {
  const { steps, seed, now } = draft
  const things: Record<string, ScenarioClientEntry> = {}
  for (const [entry, wanted] of Object.entries(clients)) {
    const { organization, name = entry, kind = 'confidential' } = wanted
    const { redirect_uris = ['http://localhost:3000/callback'] } = wanted
    const { implicit_grant = false, device_flow = true } = wanted
    const source = `scenario client ${entry}`
    const id = wanted.id ?? demoRandom(seed, source, 30).toLowerCase()
    const organization_id = (organization && catalog.organizations.get(organization)?.id) ?? null
    const secret = kind === 'public' ? '' : demoSecret(seed, 'secret', source)
    const app_token = kind === 'public' ? '' : demoSecret(seed, 'app', source)
    const owner = { organization_id, owner_user_id: null }
    const client = { id, name, ...owner, kind, redirect_uris, implicit_grant, device_flow }
    steps.push(['createClient', { client, secret_hash: secret === '' ? null : hashToken(secret) }])
    if (app_token !== '') issueToken(draft, now, { token: app_token, client_id: id, name: source })
    things[entry] = { id, secret, app_token }
    catalog.clients.set(entry, { id, organization_id })
  }
  return things
}

/** The benefit and the game that an entry asks for. */
export function planDrop(
  catalog: Catalog,
  { benefit = 'benefit', game }: { readonly benefit?: string; readonly game?: string },
  place: string,
): Drop {
  const { id, organization_id, game_id } = catalog.benefits.get(benefit) as CatalogBenefit
  const of = game === undefined ? game_id : gameFor(catalog, organization_id, game, place)
  if (of !== null) return { organization_id, benefit_id: id, game_id: of }
  throw new InvalidScenario(`${place} needs a game, because the benefit "${benefit}" has none`)
}

/** The store refuses a benefit of one organization with a game of another. */
export function gameFor(catalog: Catalog, organization_id: string, game: string, place: string): string {
  const { id, organization_id: owner } = catalog.games.get(game) as CatalogGame
  if (owner === null || owner === organization_id) return id
  throw new InvalidScenario(`${place}.game is "${game}", which belongs to another organization`)
}

export function inventedUuid(seed: number, name: string): string {
  const hex = demoDigest(seed, `scenario ${name}`).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
