import type { Scenario } from '../contract/resources/scenario.ts'
import type {
  ScenarioBenefitEntry,
  ScenarioCampaignEntry,
  ScenarioClientEntry,
  ScenarioEntitlementEntry,
  ScenarioNamedEntry,
  ScenarioThing,
  ScenarioTokenEntry,
  ScenarioUserEntry,
  World,
} from '../demo/described-world.ts'

interface EntryOfSection {
  readonly users: ScenarioUserEntry
  readonly entitlements: ScenarioEntitlementEntry
  readonly tokens: ScenarioTokenEntry
  readonly organizations: ScenarioNamedEntry
  readonly games: ScenarioNamedEntry
  readonly benefits: ScenarioBenefitEntry
  readonly clients: ScenarioClientEntry
  readonly campaigns: ScenarioCampaignEntry
}

/** For each section that the scenario has, its names with their entries. */
type EntriesOf<S> = {
  [Section in keyof EntryOfSection]: Section extends keyof S
    ? { readonly [Name in keyof S[Section]]: EntryOfSection[Section] }
    : unknown
}[keyof EntryOfSection] extends infer Each
  ? Joined<Each>
  : never

/** The intersection of the members of a union. */
type Joined<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? { readonly [Name in keyof All]: All[Name] }
  : never

/** The world of a server with this scenario. From a file, the names are not known. */
export type WorldOf<S extends Scenario> = Omit<World, 'scenario'> & {
  /** The entries of the scenario, by name. */
  readonly scenario: Scenario extends S ? Readonly<Record<string, ScenarioThing>> : EntriesOf<S>
}
