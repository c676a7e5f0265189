import type { Attempts } from '../auth/attempts.ts'
import type { Callers } from '../auth/callers.ts'
import type { EventSecrets } from '../auth/event-secrets.ts'
import type { OAuthLimits } from '../auth/oauth-limits.ts'
import type { PlaybackSessions } from '../auth/playback-sessions.ts'
import type { SigningKeys } from '../auth/signing-keys.ts'
import type { StreamKeys } from '../auth/stream-keys.ts'
import type { Lifetimes } from '../auth/tokens.ts'
import type { AnswerOf, BodyOf, Operation, ParamsOf, ProblemOf, QueryOf } from '../contract/operation.ts'
import type { Key, Page, PageRequest } from '../contract/page.ts'
import { isRefusal, type Refusal } from '../contract/problem.ts'
import type { StrictProblem } from '../contract/strict.ts'
import type { Directory } from '../directory/directory.ts'
import type { Followings } from '../directory/followings.ts'
import type { Heartbeats } from '../directory/heartbeats.ts'
import type { History } from '../directory/history.ts'
import type { OpenCampaigns } from '../directory/watch-time/open-campaigns.ts'
import type { WatchTime } from '../directory/watch-time/watch-time.ts'
import type { Caller } from '../domain/caller.ts'
import type { CallbackRule } from '../domain/events/event-subscription.ts'
import type { Log } from '../kit/telemetry/log.ts'
import type { Clock } from '../kit/time/clock.ts'
import type { Store } from '../store/store.ts'
import type { RecordingSizes } from '../transfer/export-person.ts'
import type { CampaignReports } from './campaign-reports.ts'
import type { DemoControls } from './demo/demo-controls.ts'

/** The dependencies of all operations. A handler declares only the members that it uses. */
export interface Services {
  readonly store: Store
  readonly directory: Directory
  readonly followings: Followings
  readonly history: History
  readonly callers: Callers
  readonly clock: Clock
  readonly streamKeys: StreamKeys
  readonly signingKeys: SigningKeys
  readonly playbackSessions: PlaybackSessions
  readonly heartbeats: Heartbeats
  readonly campaigns: OpenCampaigns
  readonly watchTime: WatchTime
  readonly campaignReports: CampaignReports
  readonly eventSecrets: EventSecrets
  readonly eventCallbacks: CallbackRule
  readonly attempts: Attempts
  readonly limits: OAuthLimits
  readonly lifetimes: Lifetimes
  readonly publicUrl: string
  /** Where viewers reach this node and no other. */
  readonly mediaUrl: string | undefined
  /** Whether requests that the real API refuses are refused here too; `contract/strict.ts` has the list. */
  readonly strict: boolean
  /** For temporary files: request and response bodies that do not fit into memory. */
  readonly spoolFolder: string
  /** Finds the files of recordings. */
  readonly recordingSizes: RecordingSizes
  readonly log: Log
  /** Present in demo mode only. */
  readonly demo?: DemoControls
}

/** A request after parsing, rate limiting and authorisation. */
export interface Call<O extends Operation> {
  readonly params: ParamsOf<O>
  readonly query: QueryOf<O>
  readonly body: BodyOf<O>
  /** The raw body, for operations that read text. */
  readonly bodyText: string
  /** The body as a stream, for operations that read lines. */
  readonly bodyPieces: AsyncIterable<Uint8Array>
  readonly caller: Caller
  readonly window: PageRequest
  readonly authorization: string | null
  /** The log fields that identify the request. */
  readonly logFields: () => Readonly<Record<string, string | undefined>>
  /** The client's IP address, as reported by trusted proxies. */
  readonly address: () => string
  /** The program that calls, as it names itself. */
  readonly userAgent: string
  readonly idempotencyKey: string | undefined
  /** The `pagination` of a page: a cursor if there are more rows, otherwise empty (D-13). */
  paginate<Row>(page: Page<Row>, sortKey: (row: Row) => Key, cursorState?: Key): { cursor?: string }
}

/** A response that is already serialised: rows stored as JSON are not parsed and serialised again. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A streamed response of lines. `close` is always called at the end, even if the stream was never read. */
export class StreamedLines {
  readonly pieces: AsyncGenerator<Uint8Array>
  readonly close: () => Promise<void>

  constructor(pieces: AsyncGenerator<Uint8Array>, close: () => Promise<void>) {
    this.pieces = pieces
    this.close = close
  }
}

/** A response that is saved as a file. Its name consists of characters that need no quoting in a header. */
export class TextFile<MediaType extends string = string> {
  readonly name: string
  readonly mediaType: MediaType
  readonly text: string

  constructor(file: { readonly name: string; readonly mediaType: MediaType; readonly text: string }) {
    this.name = file.name.replace(/[^A-Za-z0-9._-]/g, '_')
    this.mediaType = file.mediaType
    this.text = file.text
  }
}

/** A page of serialised rows. A cursor contains no character that JSON escapes (D-14). */
export function rawJsonPage(
  rows: readonly { readonly json: string }[],
  pagination: { cursor?: string },
): RawJson {
  // The runtime copies the parts of a sum once, when the response is sent.
  let text = '{"data":['
  let separator = ''
  for (const { json } of rows) {
    text += separator + json
    separator = ','
  }
  return new RawJson(
    pagination.cursor === undefined
      ? `${text}],"pagination":{}}`
      : `${text}],"pagination":{"cursor":"${pagination.cursor}"}}`,
  )
}

/** An answer with all rows and without pages, from rows that are JSON text already. */
export function preparedRows(rows: readonly { readonly json: string }[]): RawJson {
  return new RawJson(`{"data":[${rows.map(row => row.json).join(',')}]}`)
}

/** An operation with its handler. */
export interface Implementation {
  readonly operation: Operation
  /** Returns the response or a promise of it. */
  handle(call: Call<Operation>, services: Services): unknown
  /**
   * While the version is unchanged, the same query string from the same caller has the same response. If absent or
   * undefined, the response must not be reused.
   */
  versionOf?(services: Services, search: string): number | undefined
  /** The directory alone answers: it must not wait for other requests that need the store. */
  readonly isFromMemory?: boolean
  /** The response if all of it is in memory: without a promise, which costs a tenth of it. If undefined, `handle` responds. */
  handleFromMemory?(call: Call<Operation>, services: Services): unknown
}

type HandlerAnswer<O extends Operation> =
  | AnswerOf<O>
  | RawJson
  | StreamedLines
  | FileOf<O>
  | Refusal<ProblemOf<O> | StrictProblem>

type FileOf<O extends Operation> = O extends
  | { readonly answerFile: readonly (infer MediaType extends string)[] }
  | { readonly fileOnRequest: readonly (infer MediaType extends string)[] }
  ? TextFile<MediaType>
  : never

export function implement<O extends Operation>(
  operation: O,
  handle: (call: Call<O>, services: Services) => HandlerAnswer<O> | Promise<HandlerAnswer<O>>,
  options: Pick<Implementation, 'versionOf' | 'isFromMemory'> & {
    readonly handleFromMemory?: (call: Call<O>, services: Services) => HandlerAnswer<O> | undefined
  } = {},
): Implementation {
  return { operation, handle, ...options } as unknown as Implementation
}

/** The response with one resource, or the refusal. */
export function answerOne<T>(result: T): { data: [Exclude<T, Refusal>] } | Extract<T, Refusal> {
  return isRefusal(result) ? (result as Extract<T, Refusal>) : { data: [result as Exclude<T, Refusal>] }
}

/** The response with a page of resources. */
export function answerPage<Row>(
  page: Page<Row>,
  sortKey: (row: Row) => Key,
  paginate: Call<Operation>['paginate'],
) {
  return { data: [...page.rows], pagination: paginate(page, sortKey) }
}
