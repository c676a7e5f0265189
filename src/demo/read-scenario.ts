import { Compile } from 'typebox/schema'
import { isRefusal } from '../contract/problem.ts'
import { Scenario } from '../contract/resources/scenario.ts'
import { knownFields, type Violation } from '../contract/violation.ts'
import { checkTags } from '../domain/tags.ts'
import { lazy } from '../kit/lazy.ts'
import { MAX_INPUT_FILE, readSmallFile } from '../kit/small-file.ts'
import { violationIn } from '../operations/demo/faults.ts'
import { InvalidScenario } from './invalid-scenario.ts'
import { GAMES } from './names.ts'
import { WRITTEN_UUID } from './plan/plan-scenario.ts'
import { ROLES } from './world.ts'

const SECTIONS = [
  'organizations',
  'games',
  'benefits',
  'clients',
  'users',
  'entitlements',
  'grants',
  'campaigns',
  'tokens',
] as const

/** What entries of these kinds are called in the demo. */
const OF_THE_DEMO = {
  organizations: ['organization', 'other_organization'],
  games: GAMES,
  benefits: ['benefit'],
  clients: ['client', 'other_client'],
} as const satisfies Partial<Record<keyof Scenario, readonly string[]>>

const MAX_GRANTED = 200_000

export function readScenarioFile(file: string): Scenario {
  let text: string
  try {
    text = readSmallFile(file, MAX_INPUT_FILE)
  } catch (error) {
    throw new InvalidScenario(`${file} cannot be read: ${(error as Error).message}`)
  }
  try {
    return parseScenario(text)
  } catch (error) {
    if (error instanceof InvalidScenario) throw new InvalidScenario(`${file}: ${error.message}`)
    throw error
  }
}

/** The scenario in the text of a file. */
export function parseScenario(text: string): Scenario {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new InvalidScenario(`not JSON: ${(error as Error).message}`)
  }
  return checkScenario(value)
}

const compiledScenario = lazy(() => Compile(Scenario))

/** Checks that the value is a valid and consistent scenario. */
export function checkScenario(value: unknown): Scenario {
  const compiled = compiledScenario()
  if (!compiled.Check(value)) {
    const [, [first]] = compiled.Errors(value)
    throw new InvalidScenario(first === undefined ? '$ is not a scenario' : formatViolation(first))
  }
  const scenario = value as Scenario
  for (const violation of violationsAbout(scenario)) throw new InvalidScenario(violation)
  return scenario
}

function formatViolation(violation: Violation & { readonly message: string }): string {
  const { keyword, instancePath, params, message } = violation
  const place = jsonPath(instancePath)
  const { allowedValues = [] } = params as { allowedValues?: readonly string[] }
  if (keyword === 'enum') return `${place} must be one of ${allowedValues.join(', ')}`
  const known = knownFields(Scenario, violation)
  if (known !== undefined) return `${place} is not a field of a scenario; the fields are ${known.join(', ')}`
  return `${place} ${message}`
}

/** `/tokens/old/scopes/0` as `$.tokens.old.scopes[0]`. */
function jsonPath(pointer: string): string {
  const steps = pointer.split('/').slice(1)
  return `$${steps.map(step => (/^[0-9]+$/.test(step) ? `[${step}]` : `.${step}`)).join('')}`
}

function* violationsAbout(scenario: Scenario): Generator<string> {
  yield* nameViolations(scenario)
  yield* catalogViolations(scenario)
  yield* userViolations(scenario)
  yield* entitlementViolations(scenario)
  yield* campaignViolations(scenario)
  yield* watchingViolations(scenario)
  yield* tokenViolations(scenario)
  yield* faultViolations(scenario)
  yield* eventViolations(scenario)
}

function* nameViolations(scenario: Scenario): Generator<string> {
  const places = new Map<string, string>()
  for (const section of SECTIONS) {
    for (const name of Object.keys(scenario[section] ?? {})) {
      const place = `$.${section}.${name}`
      const other = places.get(name)
      if (other !== undefined) yield `${place} has the same name as ${other}; names must be unique`
      places.set(name, place)
    }
  }
  for (const section of ['organizations', 'benefits', 'clients'] as const) {
    const taken = OF_THE_DEMO[section].find(name => Object.hasOwn(scenario[section] ?? {}, name))
    if (taken !== undefined) yield `$.${section}.${taken} has the name of one of the demo; choose another`
  }
}

/** An entry must refer to one of the scenario or of the demo. */
function* referenceViolations(
  scenario: Scenario,
  section: keyof typeof OF_THE_DEMO,
  name: string | undefined,
  place: string,
): Generator<string> {
  const ofTheDemo: readonly string[] = OF_THE_DEMO[section]
  if (name === undefined || Object.hasOwn(scenario[section] ?? {}, name) || ofTheDemo.includes(name)) return
  yield `${place} is "${name}", but must be a name under $.${section} or one of ${ofTheDemo.join(', ')}`
}

function* catalogViolations(scenario: Scenario): Generator<string> {
  const { games = {}, benefits = {}, clients = {}, grants = {} } = scenario
  for (const [section, entries] of Object.entries({ games, benefits, clients }))
    for (const [name, { organization }] of Object.entries(entries))
      yield* referenceViolations(scenario, 'organizations', organization, `$.${section}.${name}.organization`)
  for (const [name, { game }] of Object.entries(benefits))
    yield* referenceViolations(scenario, 'games', game, `$.benefits.${name}.game`)
  let total = 0
  for (const [name, { count, fulfilled = 0, benefit, game, users = [] }] of Object.entries(grants)) {
    const place = `$.grants.${name}`
    total += count
    if (fulfilled > count) yield `${place}.fulfilled must be at most the count, ${count}`
    yield* referenceViolations(scenario, 'benefits', benefit, `${place}.benefit`)
    yield* referenceViolations(scenario, 'games', game, `${place}.game`)
    for (const [index, user] of users.entries())
      yield* personViolations(scenario.users ?? {}, user, `${place}.users[${index}]`)
  }
  if (total > MAX_GRANTED)
    yield `$.grants have ${total} entitlements in all, but must have at most ${MAX_GRANTED}`
}

function* userViolations(scenario: Scenario): Generator<string> {
  const { users = {} } = scenario
  const ids = new Map<string, string>()
  for (const [name, user] of Object.entries(users)) {
    for (const [index, followed] of (user.follows ?? []).entries()) {
      const [person, field] = typeof followed === 'string' ? [followed, ''] : [followed.user, '.user']
      yield* personViolations(users, person, `$.users.${name}.follows[${index}]${field}`)
    }
    for (const [index, editor] of (user.editors ?? []).entries()) {
      yield* personViolations(users, editor, `$.users.${name}.editors[${index}]`)
    }
    yield* streamViolations(scenario, user.stream ?? {}, `$.users.${name}.stream`)
    if (user.login === undefined && name.length > 25) {
      yield `$.users.${name} needs a login, because the name is longer than the 25 characters of a login`
    }
    if (user.id === undefined) continue
    const other = ids.get(user.id)
    if (other !== undefined) yield `$.users.${name}.id is the same as $.users.${other}.id`
    ids.set(user.id, name)
  }
}

function* streamViolations(
  scenario: Scenario,
  { tags = [], game = '' }: { tags?: readonly string[]; game?: string },
  place: string,
): Generator<string> {
  const checked = checkTags(tags)
  if (isRefusal(checked)) yield `${place}.tags was malformed: ${checked.details[1]}`
  if (game !== '' && !GAMES.includes(game) && !Object.hasOwn(scenario.games ?? {}, game))
    yield `${place}.game is "${game}", but must be empty or one of ${[...Object.keys(scenario.games ?? {}), ...GAMES].join(', ')}`
}

function* personViolations(
  users: NonNullable<Scenario['users']>,
  person: string | undefined,
  place: string,
): Generator<string> {
  if (person === undefined || Object.hasOwn(users, person) || (ROLES as readonly string[]).includes(person))
    return
  yield `${place} is "${person}", but must be ${ROLES.join(', ')} or a name under $.users`
}

function* entitlementViolations(scenario: Scenario): Generator<string> {
  const { users = {}, entitlements = {} } = scenario
  for (const [name, wanted] of Object.entries(entitlements)) {
    const { id, update_status: status = 'SUCCESS', user, benefit, game, times } = wanted
    const place = `$.entitlements.${name}`
    yield* personViolations(users, user, `${place}.user`)
    yield* referenceViolations(scenario, 'benefits', benefit, `${place}.benefit`)
    yield* referenceViolations(scenario, 'games', game, `${place}.game`)
    const isUuid = id !== undefined && WRITTEN_UUID.test(id)
    if (id !== undefined && status === 'INVALID_ID' && isUuid)
      yield `${place}.id is a UUID, which is a valid id`
    if (id !== undefined && status !== 'INVALID_ID' && !isUuid)
      yield `${place}.id must be a UUID, not "${id}"`
    if (times !== undefined && status !== 'UPDATE_FAILED')
      yield `${place}.times is only allowed with UPDATE_FAILED`
  }
}

function* campaignViolations(scenario: Scenario): Generator<string> {
  for (const [name, wanted] of Object.entries(scenario.campaigns ?? {})) {
    const place = `$.campaigns.${name}`
    const { organization, game, link_client, channels = [], drops } = wanted
    yield* referenceViolations(scenario, 'organizations', organization, `${place}.organization`)
    yield* referenceViolations(scenario, 'games', game, `${place}.game`)
    yield* referenceViolations(scenario, 'clients', link_client, `${place}.link_client`)
    for (const [index, channel] of channels.entries())
      yield* personViolations(scenario.users ?? {}, channel, `${place}.channels[${index}]`)
    for (const [index, { benefits = [] }] of drops.entries())
      for (const [at, benefit] of benefits.entries())
        yield* referenceViolations(scenario, 'benefits', benefit, `${place}.drops[${index}].benefits[${at}]`)
  }
}

function* watchingViolations({ users = {}, watching = [] }: Scenario): Generator<string> {
  const seen = new Map<string, number>()
  for (const [index, { user, channel }] of watching.entries()) {
    const place = `$.watching[${index}]`
    yield* personViolations(users, user, `${place}.user`)
    yield* personViolations(users, channel, `${place}.channel`)
    const other = seen.get(user)
    if (other !== undefined) yield `${place}.user watches already, in $.watching[${other}]`
    seen.set(user, index)
  }
}

function* tokenViolations(scenario: Scenario): Generator<string> {
  const { users = {}, tokens = {} } = scenario
  for (const [name, { kind, user, scopes, client }] of Object.entries(tokens)) {
    const place = `$.tokens.${name}`
    yield* personViolations(users, user, `${place}.user`)
    yield* referenceViolations(scenario, 'clients', client, `${place}.client`)
    if (kind !== 'app') continue
    if (user !== undefined) yield `${place}.user is not allowed for an app token`
    if (scopes !== undefined) yield `${place}.scopes is not allowed for an app token`
  }
}

function* faultViolations({ entitlements = {}, faults = [] }: Scenario): Generator<string> {
  for (const [index, fault] of faults.entries()) {
    const place = `$.faults[${index}]`
    const violation = violationIn(fault)
    if (violation !== undefined) yield `${place} cannot be planned: ${violation}`
    const { entitlement_id: id } = fault
    if (id === undefined || WRITTEN_UUID.test(id) || Object.hasOwn(entitlements, id)) continue
    yield `${place}.entitlement_id is "${id}", which is neither a UUID nor a name under $.entitlements`
  }
}

function* eventViolations({ users = {}, events = [] }: Scenario): Generator<string> {
  for (const [index, { type, user, by, title }] of events.entries()) {
    const place = `$.events[${index}]`
    yield* personViolations(users, user, `${place}.user`)
    if (by !== undefined) yield* personViolations(users, by, `${place}.by`)
    if (by !== undefined && type !== 'channel.follow') yield `${place}.by is only allowed with channel.follow`
    if (title !== undefined && type !== 'channel.update')
      yield `${place}.title is only allowed with channel.update`
    if (title === undefined && type === 'channel.update') yield `${place} needs a title`
  }
}
