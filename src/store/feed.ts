import type { Stream } from '../contract/resources/stream.ts'

/** A stream as the store knows it: a `Stream` without what is the same for all or follows from settings. */
export type LiveStream = Omit<Stream, 'type' | 'thumbnail_url' | 'tag_ids'>

/** Tokens whose cached meaning is no longer true: these, or all of one client or user. */
export type EndedAccess =
  | { readonly tokens: readonly string[] }
  | { readonly client_id: string }
  | { readonly user_id: string }

/**
 * What changed in what processes keep in memory: the directory and the callers. Each entry carries the state it leads to,
 * not a difference, so that applying one twice does no harm; and of viewer counts also what they were, so that whoever
 * knows the present can find out the past.
 */
export type Change =
  /** How a live stream looks now. `was`: its viewers before; null if it has just started. */
  | { readonly kind: 'stream'; readonly stream: LiveStream; readonly was: number | null }
  | { readonly kind: 'end'; readonly user_id: string; readonly stream_id: string }
  | { readonly kind: 'access'; readonly access: EndedAccess }
  | { readonly kind: 'follows'; readonly user_ids: readonly string[] }
  /** Side by side, one place per stream: 10,000 of them are read three times faster than as 10,000 small objects. */
  | {
      readonly kind: 'viewers'
      readonly stream_ids: readonly string[]
      readonly viewers: readonly number[]
      readonly was: readonly number[]
    }

/**
 * A place in the feed, and with it a state of everything that the feed tells of: what all entries up to this one lead to.
 * The nonce was drawn for the transaction that wrote the entry. Where two histories went apart, such as after a failover
 * that lost the last entries, the same number has another nonce.
 */
export interface FeedPoint {
  readonly seq: number
  readonly nonce: string
}

export const samePoint = (a: FeedPoint, b: FeedPoint): boolean => a.seq === b.seq && a.nonce === b.nonce

/** A change with its place in the order of commits: no number is missing, and a smaller one was committed earlier. */
export interface FeedEntry extends FeedPoint {
  /** The nonce of the entry before this one: entries form a chain. */
  readonly previous: string
  readonly change: Change
}

/** Whether an entry is the next one after a point, in the same history. */
export const isNext = (entry: FeedEntry, point: FeedPoint): boolean =>
  entry.seq === point.seq + 1 && entry.previous === point.nonce
