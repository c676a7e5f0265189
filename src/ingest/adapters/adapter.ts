/**
 * An adapter translates between a media server and publish sessions: requests of the media server into events, outcomes into
 * the responses that it understands, and its API into a list of publishers. Translations are pure; `hooks.ts` and
 * `reconcile.ts` do the rest.
 */
import type { AdapterName } from '../../contract/resources/media-server.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** What a media server sent: a form or a query string, or a JSON object. */
export interface HookRequest {
  readonly form?: URLSearchParams
  readonly json?: JsonObject
  /** Where viewers get the recordings of the media server, as the URL of its callbacks has it. */
  readonly recordingsUrl?: string
}

export type IngestEvent =
  /** Whether a publisher may start. Without a session only its key is checked: the media server reports it elsewhere. */
  | {
      readonly kind: 'publish'
      readonly session: string | undefined
      readonly name: string
      readonly address: string
    }
  /** A publisher is still there. */
  | { readonly kind: 'alive'; readonly session: string }
  /** A publisher has ended. */
  | { readonly kind: 'end'; readonly session: string }
  /** A recording is complete: of a session, or of a channel since a time. */
  | {
      readonly kind: 'recorded'
      readonly of: string | { readonly login: string; readonly since: number }
      /** Below the URL of the recordings; undefined: it has none. */
      readonly file: string | undefined
    }
  /** A viewer came or left. */
  | {
      readonly kind: 'viewer'
      readonly login: string
      readonly viewer: string
      readonly isThere: boolean
    }
  /** A question about something else than publishing, with its answer. */
  | { readonly kind: 'other'; readonly allowed: boolean }

export type Outcome =
  | { readonly kind: 'accepted'; readonly login: string; readonly user_id: string }
  | { readonly kind: 'refused' }
  /** The event was taken note of. */
  | { readonly kind: 'noted' }
  /** The publisher is not wanted any more. */
  | { readonly kind: 'gone' }

export interface HookResponse {
  readonly status: number
  readonly location?: string
  readonly json?: unknown
}

/** A publisher that a media server has. */
export interface Publisher {
  readonly session: string
  readonly login: string
  /** Undefined: the media server does not count them. */
  readonly viewers: number | undefined
}

/** A request to the API of a media server, below its URL. */
export type ApiCall = (path: string, method?: 'GET' | 'POST' | 'DELETE') => Promise<string>

export interface MediaServerApi {
  /** Whether it asks for a token, made with the secret that the configuration gives it. */
  readonly hasSecret?: boolean
  publishers(call: ApiCall): Promise<Publisher[]>
  /** Disconnects a publisher; one that is gone already is no error. Absent: the API cannot do that. */
  kick?(call: ApiCall, publisher: { readonly session: string; readonly login: string }): Promise<void>
}

export interface Adapter {
  readonly name: AdapterName
  /** The event of a request; undefined if the media server sends no such request. */
  read(request: HookRequest): IngestEvent | undefined
  respond(outcome: Outcome, request: HookRequest): HookResponse
  readonly api?: MediaServerApi
  /**
   * The media server lets publishers in before it asks, also if it gets no answer: one that the store does not know may have
   * a wrong key. It refuses a second publisher of a name itself.
   */
  readonly asksLate?: boolean
}

/** 200, or 403 for what is not allowed. */
export const plainResponse = ({ kind }: Outcome): HookResponse => ({
  status: kind === 'refused' || kind === 'gone' ? 403 : 200,
})

/** The text at a path of a JSON object; undefined if there is none. Numbers count as text, half a character does not. */
export function textAt(json: unknown, ...path: readonly string[]): string | undefined {
  const value = valueAt(json, ...path)
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  return typeof value === 'string' && value !== '' && value.isWellFormed() ? value : undefined
}

export function valueAt(json: unknown, ...path: readonly string[]): unknown {
  let value = json
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as JsonObject)[name]
  }
  return value
}

/** The objects in the list at a path. */
export function listAt(json: unknown, ...path: readonly string[]): JsonObject[] {
  const list = valueAt(json, ...path)
  return Array.isArray(list) ? list.filter(each => typeof each === 'object' && each !== null) : []
}

const KEY_PARAMETERS = ['key', 'token', 'pass'] as const

/** The keys in a query string: a publisher gives one. */
export function keysIn(query: URLSearchParams): string[] {
  return KEY_PARAMETERS.flatMap(name => query.getAll(name)).filter(key => key !== '')
}

/**
 * A login with its key, as a name to publish under. Undefined without a key: on a media server that plays a broadcast under
 * the name it was published with, the key must not be that name.
 */
export function loginWithKey(login: string | undefined, keys: readonly string[]): string | undefined {
  const [key] = keys
  if (login === undefined || login === '' || login.includes('?') || key === undefined) return undefined
  return keys.every(each => each === key) ? `${login}?key=${encodeURIComponent(key)}` : undefined
}

/** A name that may be the key itself, with the keys of a query string. */
export function nameWithKeys(name: string, keys: readonly string[]): string {
  return keys.length === 0 ? name : `${name}?${keys.map(key => `key=${encodeURIComponent(key)}`).join('&')}`
}

/** The last segment of a path. */
export const lastSegment = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
