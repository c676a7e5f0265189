import type { Dialect } from '../sql/tag.ts'
import { tables } from './001-tables.ts'

export interface Migration {
  readonly text: (dialect: Dialect) => string
  /**
   * Whether the previous release can serve a store with this migration: what it reads still exists, what it writes is still
   * accepted, and its lists still have their indexes. Then an upgrade can be rolled back.
   */
  readonly additive: boolean
}

/** All migrations, in order: number n has index n - 1. The first creates a store. A released migration is never edited. */
export const migrations: readonly Migration[] = [{ text: tables, additive: false }]
