/** What a client saw of a group of entitlements that are always written together. */

/** `ok` has happened, `fail` has not, and `unknown` is neither: it may still happen, at any later time. */
export type Outcome = 'ok' | 'fail' | 'unknown'

/** One entitlement as a read showed it. The version is its `last_updated`, which every write moves forward. */
export interface Row {
  readonly status: string
  readonly version: string
}

interface Seen {
  /** Who asked; a process asks one thing at a time. */
  readonly process: string
  /** The group. */
  readonly key: string
  /** Milliseconds on one clock, taken before the request and after the answer. */
  readonly invoked: number
  readonly returned: number
  readonly outcome: Outcome
}

export interface Write extends Seen {
  readonly kind: 'write'
  readonly status: string
}

export interface Read extends Seen {
  readonly kind: 'read'
  /** Empty unless the outcome is ok. */
  readonly rows: readonly Row[]
}

export type Operation = Write | Read
