import { isoMillis } from '../../kit/clock.ts'
import type { Eventual } from '../../kit/eventual.ts'
import { randomAlphanumerics } from '../../kit/id.ts'
import { type CommandName, commands } from '../commands/index.ts'
import type { Database, Transaction } from '../database.ts'
import type { Change, FeedEntry } from '../feed.ts'
import { type Sql, sql, tableOf } from './tag.ts'

/** A database that can also write, inside a transaction that somebody else begins and ends. */
export interface Writable extends Database {
  run(statement: Sql): Eventual<number>
  lock(query: Sql, table: string): Promise<void>
}

/** Runs one command and writes its feed entries behind it, all in the transaction that `db` stands in. */
export async function runCommand(
  db: Writable,
  name: CommandName,
  args: unknown,
): Promise<{ result: unknown; entries: readonly FeedEntry[] }> {
  const changes: Change[] = []
  const tx: Transaction = {
    all: query => db.all(query),
    get: query => db.get(query),
    run: statement => db.run(statement),
    lock: (query, table) => db.lock(query, table),
    publish: change => {
      changes.push(change)
    },
  }
  const command = commands[name] as (tx: Transaction, args: unknown) => Promise<unknown>
  const result = await command(tx, args)
  return { result, entries: changes.length === 0 ? [] : await appendToFeed(db, changes) }
}

/**
 * The counter's row stays locked until the commit, so numbers are given in the order of commits and a rolled-back
 * transaction leaves no hole. It also holds the newest nonce, which the next entry refers to.
 */
async function appendToFeed(db: Writable, changes: readonly Change[]): Promise<FeedEntry[]> {
  const nonce = randomAlphanumerics(10)
  const head = await db.get<{ seq: number | string; previous: string }>(
    sql`update feed_head set seq = seq + ${changes.length}, previous = nonce, nonce = ${nonce} where id = 1
        returning seq, previous`,
  )
  if (head === undefined) throw new Error('the feed has no head')
  const first = Number(head.seq) - changes.length + 1
  const entries = changes.map((change, index) => {
    return { seq: first + index, nonce, previous: index === 0 ? head.previous : nonce, change }
  })
  const at = isoMillis(Date.now())
  const rows = entries.map(({ change, ...place }) => ({ ...place, at, entry: JSON.stringify(change) }))
  const [row, ...more] = rows
  if (row === undefined) return []
  // Nearly always there is one, and it may be large.
  await db.run(
    more.length === 0
      ? sql`insert into feed (seq, at, nonce, previous, entry)
          values (${row.seq}, ${row.at}, ${row.nonce}, ${row.previous}, ${row.entry})`
      : sql`insert into feed (seq, at, nonce, previous, entry) select cast(seq as bigint), at, nonce, previous, entry
          from ${tableOf(rows, ['seq', 'at', 'nonce', 'previous', 'entry'])} as news`,
  )
  return entries
}
