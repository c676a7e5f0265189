import type { Author } from '../domain/audit.ts'
import type { Metrics } from '../kit/telemetry/metrics.ts'
import type { CommandName } from './command-list.ts'
import type { Database } from './database.ts'
import type { FeedEntry } from './feed.ts'

/** What a committed command leads to. */
export interface CommandOutcome {
  readonly result: unknown
  readonly entries: readonly FeedEntry[]
  /** Whether there are messages to deliver. */
  readonly announced: boolean
}

/**
 * The contract of an engine. A command that returned is durable. One that threw `Unavailable` was applied completely or not
 * at all, and may still be applied. Both happen within the deadline of the command (`engine/deadlines.ts`).
 * A query that starts after a command returned sees its changes. Commands and queries reject only with `Unavailable` or
 * `Conflict`, unless there is a bug.
 */
export interface Engine {
  readonly name: 'sqlite' | 'postgres'
  readonly db: Database
  /** For reads that must succeed under read overload: the feed and the health check. */
  readonly reserved: Database
  /** The schema version, and how many migrations were applied when the engine was opened. */
  readonly schema: { readonly version: number; readonly applied: number }
  /** Runs reads in one consistent snapshot, on a separate connection so that a long read blocks nothing else. */
  snapshot<T>(read: (db: Database) => Promise<T>): Promise<T>
  /** With an author, the changes of the command are recorded in the audit log. */
  run(name: CommandName, args: unknown, author?: Author): Promise<CommandOutcome>
  /** Why writes currently fail, for the operator, if known without a query; undefined if they succeed. */
  unavailableReason(): string | undefined
  /** Adds the metrics of the engine. */
  measure(metrics: Metrics): void
  close(): Promise<void>
}
