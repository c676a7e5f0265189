import type { AnswerOf, BodyOf, Operation, ParamsOf, QueryOf } from '../contract/operation.ts'

/** The types of a client, derived from the declarations in the contract. */

/** What a caller may pass for a declared value: arrays may be read-only, optional fields may be undefined. */
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

/** All inputs of an operation. Names in path, query and body are distinct. */
export type InputOf<O extends Operation> =
  QueryOf<O> extends infer Query
    ? Query extends unknown
      ? Simplify<Given<Query & ParamsOf<O> & BodyOf<O> & PageInput<O>>>
      : never
    : never

/** The answer as the client returns it: a file as its text. */
type ReceivedOf<O extends Operation> = O extends { readonly answerFile: readonly string[] }
  ? string
  : AnswerOf<O>

/** One row of the answer, for the answers that have rows. */
export type RowOf<O extends Operation> = AnswerOf<O> extends { data: (infer Row)[] } ? Row : never

/** Options of a single call. */
export interface CallOptions {
  /** Aborts the call and the wait between attempts. */
  readonly signal?: AbortSignal
  /** Overrides the client's token. */
  readonly token?: string
  /** Identifies retries of the same call, for operations that accept a key (default: a random key). */
  readonly idempotencyKey?: string
  /** Declares that the call may be repeated safely, such as granting entitlements with explicit ids. */
  readonly repeatable?: boolean
}

/** An operation as a function. */
export type Method<O extends Operation> = (Record<never, never> extends InputOf<O>
  ? (input?: InputOf<O>, options?: CallOptions) => Promise<ReceivedOf<O>>
  : (input: InputOf<O>, options?: CallOptions) => Promise<ReceivedOf<O>>) &
  Walks<O> &
  One<O>

/** A list can be iterated by page, or by row over all pages. */
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

/** Where the answer is an array with one element, `one` returns that element. */
type One<O extends Operation> = O extends { readonly page: object }
  ? unknown
  : AnswerOf<O> extends { data: unknown[] }
    ? Record<never, never> extends InputOf<O>
      ? { one(input?: InputOf<O>, options?: CallOptions): Promise<RowOf<O>> }
      : { one(input: InputOf<O>, options?: CallOptions): Promise<RowOf<O>> }
    : unknown

/** The operations of a family as functions of the same names, without those that answer a stream of lines. */
export type Methods<Operations extends Readonly<Record<string, Operation>>> = {
  readonly [Name in keyof Operations as Operations[Name] extends { readonly answerLines: object }
    ? never
    : Name]: Method<Operations[Name]>
}
