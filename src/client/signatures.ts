import type { ResponseInfo } from './response-info.ts'
import type { Token } from './token.ts'

/** The kinds of methods that a client has. `api.ts` has one of them for each operation. */

/** Options of a single call. */
export interface CallOptions {
  /** Aborts the call and the wait between attempts. */
  readonly signal?: AbortSignal | undefined
  /** Overrides the client's token. */
  readonly token?: Token | undefined
  /** Identifies retries of the same call, for operations that accept a key (default: a random key). */
  readonly idempotencyKey?: string | undefined
  /** Declares that the call may be repeated safely, such as granting entitlements with explicit ids. */
  readonly repeatable?: boolean | undefined
}

/** The input may be left out if all of its fields may. */
type Arguments<Input> =
  Record<never, never> extends Input
    ? [input?: Input, options?: CallOptions]
    : [input: Input, options?: CallOptions]

/** An answer that is an object also has the response: status, headers and rate limit. It is not enumerable. */
export type Received<Answer> = Answer extends object ? Answer & { readonly response: ResponseInfo } : Answer

/** An operation as a function. */
export type Method<Input, Answer> = (...args: Arguments<Input>) => Promise<Received<Answer>>

/** A list that can be iterated by page, or by row over all pages. */
export interface ListMethod<Input, Answer, Row> extends Method<Input, Answer> {
  /** Iterates over the pages, and fetches the next one when needed. */
  pages(...args: Arguments<Input>): AsyncIterableIterator<Received<Answer>>
  /** Iterates over the rows of all pages. */
  each(...args: Arguments<Input>): AsyncIterableIterator<Row>
}

/** An operation whose answer has rows. */
export interface RowsMethod<Input, Answer, Row> extends Method<Input, Answer> {
  /** Returns the row of an answer that has exactly one. */
  one(...args: Arguments<Input>): Promise<Row>
}

/** An update of at most 100 resources, by id. */
export interface UpdateMethod<Input, Answer, Row> extends RowsMethod<Input, Answer, Row> {
  /**
   * Takes any number of ids, sends them 100 at a time, one request after the other, and merges the outcomes by status. If a
   * request fails, the ids before it have been updated; repeating the call is harmless.
   */
  all(...args: Arguments<Input>): Promise<Answer>
}
