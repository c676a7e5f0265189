import type { Scenario } from '../client/api.ts'
import type { World as DescribedWorld, ScenarioThing } from '../demo/described-world.ts'

/** The world with the entries of a scenario under their names, each with the fields of its kind. */
export type World<S = Scenario> = Omit<DescribedWorld, 'scenario'> & {
  /** The entries of the scenario, by name; empty without a scenario. */
  readonly scenario: ScenarioEntries<S>
}

/**
 * Without the type of the scenario, as in `let strand: RunningStrand`, the fields of an entry are not checked. With it, as in
 * `let strand: RunningStrand<typeof scenario>`, or if the result of `startStrand` is used as it is, they are.
 */
export type ScenarioEntries<S> = Scenario extends S
  ? // biome-ignore lint/suspicious/noExplicitAny: which fields an entry has depends on the scenario.
    { readonly [name: string]: any }
  : { readonly [Name in NamesIn<S>]: EntryOf<SectionOf<S, Name>> }

/** Sections of a scenario that name their entries. */
type Section<S> = {
  [K in keyof S]: S[K] extends string | readonly unknown[] | undefined ? never : K
}[keyof S]
type NamesIn<S> = { [K in Section<S>]: keyof S[K] }[Section<S>]
type SectionOf<S, Name> = { [K in Section<S>]: Name extends keyof S[K] ? K : never }[Section<S>]

type Has<Field extends keyof ScenarioThing> = ScenarioThing & Required<Pick<ScenarioThing, Field>>
type EntryOf<Kind> = Kind extends 'tokens'
  ? Has<'token' | 'client_id' | 'scopes'>
  : Kind extends 'users'
    ? Has<'id' | 'login' | 'token'>
    : Has<'id'>

/** A scenario without a field that does not exist: inferring its type would accept any. */
export type Exact<Given, Shape> = Given extends object
  ? {
      [K in keyof Given]: K extends KeysOf<Shape> ? Exact<Given[K], NonNullable<Field<Shape, K>>> : never
    }
  : Given

type KeysOf<Shape> = Shape extends unknown ? keyof Shape : never
type Field<Shape, K> = Shape extends unknown ? (K extends keyof Shape ? Shape[K] : never) : never
