import type { Stream } from '../contract/resources/stream.ts'

/** A stream as the store knows it: a `Stream` without what is the same for all or follows from settings. */
export type LiveStream = Omit<Stream, 'type' | 'thumbnail_url'>

/** Tokens whose cached meaning is no longer true: these, or all of one client or user. */
export type EndedAccess =
  | { readonly tokens: readonly string[] }
  | { readonly client_id: string }
  | { readonly user_id: string }

/**
 * What changed in what processes keep in memory: the directory and the callers. Each entry carries the state it leads to, not a difference, so that applying one twice
 * does no harm.
 */
export type Change =
  | { readonly kind: 'stream'; readonly stream: LiveStream }
  | { readonly kind: 'end'; readonly user_id: string; readonly stream_id: string }
  | { readonly kind: 'access'; readonly access: EndedAccess }
  | { readonly kind: 'follows'; readonly user_ids: readonly string[] }
  | { readonly kind: 'viewers'; readonly counts: readonly (readonly [stream_id: string, viewers: number])[] }

/** A change with its place in the order of commits: no number is missing, and a smaller one was committed earlier. */
export interface FeedEntry {
  readonly seq: number
  readonly change: Change
}
