import type { AnswerOf, BodyOf, Operation, ParamsOf, QueryOf } from '../contract/operation.ts'

/** The types of a client, all of them read off the declarations of the contract. */

/** What a caller may hand in for a declared value: lists may be read-only, and what may be left out may be undefined. */
type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { [K in keyof T]: Given<T[K]> | (Record<never, never> extends Pick<T, K> ? undefined : never) }
    : T

type Simplify<T> = { [K in keyof T]: T[K] }

type PageInput<O extends Operation> = O extends { readonly page: { readonly before: true } }
  ? { first?: number; after?: string; before?: string }
  : O extends { readonly page: object }
    ? { first?: number; after?: string }
    : Record<never, never>

/** Everything an operation takes, wherever it travels: the names of path, query and body do not meet. */
export type InputOf<O extends Operation> =
  QueryOf<O> extends infer Query
    ? Query extends unknown
      ? Simplify<Given<Query & ParamsOf<O> & BodyOf<O> & PageInput<O>>>
      : never
    : never

/** One row of the answer, for the answers that have rows. */
export type RowOf<O extends Operation> = AnswerOf<O> extends { data: (infer Row)[] } ? Row : never

/** What goes with one call beside its input. */
export interface CallOptions {
  /** Ends the call, and the waiting between its attempts. */
  readonly signal?: AbortSignal
  /** Instead of the client's own token. */
  readonly token?: string
  /** With an operation that takes one: the key by which a repetition is known. One is made up if it is left out. */
  readonly idempotencyKey?: string
  /** Says that doing it twice does no harm, such as granting entitlements whose ids are given. */
  readonly repeatable?: boolean
}

/** An operation as a function. */
export type Method<O extends Operation> = (Record<never, never> extends InputOf<O>
  ? (input?: InputOf<O>, options?: CallOptions) => Promise<AnswerOf<O>>
  : (input: InputOf<O>, options?: CallOptions) => Promise<AnswerOf<O>>) &
  Walks<O> &
  One<O>

/** A list can be walked: page by page, or row by row over all its pages. */
type Walks<O extends Operation> = O extends { readonly page: object }
  ? Record<never, never> extends InputOf<O>
    ? {
        pages(input?: InputOf<O>, options?: CallOptions): AsyncIterableIterator<AnswerOf<O>>
        each(input?: InputOf<O>, options?: CallOptions): AsyncIterableIterator<RowOf<O>>
      }
    : {
        pages(input: InputOf<O>, options?: CallOptions): AsyncIterableIterator<AnswerOf<O>>
        each(input: InputOf<O>, options?: CallOptions): AsyncIterableIterator<RowOf<O>>
      }
  : unknown

/** Where the answer is an array of one thing, `one` gives that thing. */
type One<O extends Operation> = O extends { readonly page: object }
  ? unknown
  : AnswerOf<O> extends { data: unknown[] }
    ? Record<never, never> extends InputOf<O>
      ? { one(input?: InputOf<O>, options?: CallOptions): Promise<RowOf<O>> }
      : { one(input: InputOf<O>, options?: CallOptions): Promise<RowOf<O>> }
    : unknown

/** The operations of a family as functions of the same names. */
export type Methods<Operations extends Readonly<Record<string, Operation>>> = {
  readonly [Name in keyof Operations]: Method<Operations[Name]>
}
