import type { Attempts } from '../auth/attempts.ts'
import type { Callers } from '../auth/callers.ts'
import type { OAuthLimits } from '../auth/oauth-limits.ts'
import type { SigningKeys } from '../auth/signing-keys.ts'
import type { StreamKeys } from '../auth/stream-keys.ts'
import type { Lifetimes } from '../auth/tokens.ts'
import type { AnswerOf, BodyOf, Operation, ParamsOf, ProblemOf, QueryOf } from '../contract/operation.ts'
import type { Key, Page, Window } from '../contract/page.ts'
import { isRefusal, type Refusal } from '../contract/problem.ts'
import type { Directory } from '../directory/directory.ts'
import type { Followings } from '../directory/followings.ts'
import type { History } from '../directory/history.ts'
import type { Caller } from '../domain/caller.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { Store } from '../store/store.ts'
import type { DemoControls } from './demo-controls.ts'

/** What stands behind the operations. A handler takes from it what it needs. */
export interface Services {
  readonly store: Store
  readonly directory: Directory
  readonly followings: Followings
  readonly history: History
  readonly callers: Callers
  readonly clock: Clock
  readonly streamKeys: StreamKeys
  readonly signingKeys: SigningKeys
  readonly attempts: Attempts
  readonly limits: OAuthLimits
  readonly lifetimes: Lifetimes
  readonly publicUrl: string
  /** Where bodies that do not fit into memory are put for a while. */
  readonly spoolFolder: string
  readonly log: Log
  /** The levers of demo mode; absent outside it. */
  readonly demo?: DemoControls
}

/** One request as a handler sees it: parsed, limited, authorised. */
export interface Call<O extends Operation> {
  readonly params: ParamsOf<O>
  readonly query: QueryOf<O>
  readonly body: BodyOf<O>
  /** The body as it came, where the operation reads it so. */
  readonly bodyText: string
  /** The body as it comes, where it is lines. */
  readonly bodyPieces: AsyncIterable<Uint8Array>
  readonly caller: Caller
  readonly window: Window
  readonly authorization: string | null
  /** By what a log line names the request. */
  readonly logFields: () => Readonly<Record<string, string | undefined>>
  /** Where the request comes from, as far as proxies can be believed. */
  readonly address: () => string
  readonly idempotencyKey: string | undefined
  /** The `pagination` of a page: a cursor if there is more, else nothing (D-13). */
  paginate<Row>(page: Page<Row>, keyOf: (row: Row) => Key, memory?: Key): { cursor?: string }
}

/** An answer that is text already: rows that are kept as JSON need not be taken apart and put together again. */
export class PreparedJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** An answer of lines that are sent as they are made. `close` is called at the end, also if nobody has taken them. */
export class StreamedLines {
  readonly pieces: AsyncGenerator<Uint8Array>
  readonly close: () => Promise<void>

  constructor(pieces: AsyncGenerator<Uint8Array>, close: () => Promise<void>) {
    this.pieces = pieces
    this.close = close
  }
}

/** A page of prepared rows. A cursor has no character that JSON would escape (D-14). */
export function preparedPage(
  rows: readonly { readonly json: string }[],
  pagination: { cursor?: string },
): PreparedJson {
  const texts: string[] = []
  for (const row of rows) texts.push(row.json)
  const cursor = pagination.cursor === undefined ? '{}' : `{"cursor":"${pagination.cursor}"}`
  return new PreparedJson(`{"data":[${texts.join(',')}],"pagination":${cursor}}`)
}

/** An operation with the code that answers it. */
export interface Implementation {
  readonly operation: Operation
  /** Returns the answer or a promise of it. */
  handle(call: Call<Operation>, services: Services): unknown
  /**
   * While this stands still, the same question, as a query string, of the same caller has the same answer. Absent or
   * undefined: it may always differ.
   */
  versionOf?(services: Services, search: string): number | undefined
}

type HandlerAnswer<O extends Operation> = AnswerOf<O> | PreparedJson | StreamedLines | Refusal<ProblemOf<O>>

export function implement<O extends Operation>(
  operation: O,
  handle: (call: Call<O>, services: Services) => HandlerAnswer<O> | Promise<HandlerAnswer<O>>,
  options: Pick<Implementation, 'versionOf'> = {},
): Implementation {
  return { operation, handle: handle as unknown as Implementation['handle'], ...options }
}

/** The answer with one resource, or the refusal that came in its place. */
export function answerOne<T>(result: T): { data: [Exclude<T, Refusal>] } | Extract<T, Refusal> {
  return isRefusal(result) ? (result as Extract<T, Refusal>) : { data: [result as Exclude<T, Refusal>] }
}

/** The answer with a page of resources. */
export function answerPage<Row>(
  page: Page<Row>,
  keyOf: (row: Row) => Key,
  paginate: Call<Operation>['paginate'],
) {
  return { data: [...page.rows], pagination: paginate(page, keyOf) }
}
