import type { Scenario } from '../client/api.ts'
import type {
  World as DescribedWorld,
  ScenarioBenefitEntry,
  ScenarioCampaignEntry,
  ScenarioClientEntry,
  ScenarioEntitlementEntry,
  ScenarioGrantEntry,
  ScenarioNamedEntry,
  ScenarioTokenEntry,
  ScenarioUserEntry,
} from '../demo/described-world.ts'

/**
 * A scenario whose type is not known, as in `let strand: RunningStrand`: the names and fields of its entries are not checked.
 * With `RunningStrand<typeof scenario>`, or if the result of `startStrand` is used as it is, they are.
 */
// biome-ignore lint/suspicious/noExplicitAny: the type of any scenario has to fit.
export type AnyScenario = any

/** The world with the entries of a scenario under their names, each with the fields of its kind. */
export type World<S = AnyScenario> = Omit<DescribedWorld, 'scenario'> & {
  /** The entries of the scenario, by name; empty without a scenario. */
  readonly scenario: ScenarioEntries<S>
}

/** From a file, or declared as `Scenario`, the names are not known. */
export type ScenarioEntries<S> = Scenario extends S
  ? { readonly [name: string]: AnyScenario }
  : { readonly [Name in NamesIn<S>]: EntryOf[SectionOf<S, Name>] }

/** The sections of a scenario that name their entries. */
interface EntryOf {
  readonly users: ScenarioUserEntry
  readonly entitlements: ScenarioEntitlementEntry
  readonly tokens: ScenarioTokenEntry
  readonly organizations: ScenarioNamedEntry
  readonly games: ScenarioNamedEntry
  readonly benefits: ScenarioBenefitEntry
  readonly clients: ScenarioClientEntry
  readonly grants: ScenarioGrantEntry
  readonly campaigns: ScenarioCampaignEntry
}
type Section<S> = keyof S & keyof EntryOf
type NamesIn<S> = { [K in Section<S>]: keyof NonNullable<S[K]> }[Section<S>]
type SectionOf<S, Name> = {
  [K in Section<S>]: Name extends keyof NonNullable<S[K]> ? K : never
}[Section<S>]

/** A scenario without a field that does not exist: inferring its type would accept any. */
export type Exact<Given, Shape> = Given extends readonly unknown[]
  ? { [K in keyof Given]: Exact<Given[K], Element<Shape>> }
  : Given extends object
    ? { [K in keyof Given]: K extends KeysOf<Shape> ? Exact<Given[K], NonNullable<Field<Shape, K>>> : never }
    : Given

type Element<Shape> = Shape extends readonly (infer Item)[] ? Item : never
type KeysOf<Shape> = Shape extends unknown ? keyof Shape : never
type Field<Shape, K> = Shape extends unknown ? (K extends keyof Shape ? Shape[K] : never) : never
