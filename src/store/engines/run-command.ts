import { type Author, type ChainPoint, chained, isChange, type Recording } from '../../domain/audit.ts'
import { isoMillis } from '../../kit/clock.ts'
import { randomAlphanumerics } from '../../kit/id.ts'
import type { MaybePromise } from '../../kit/maybe-promise.ts'
import { must } from '../../kit/must.ts'
import { type CommandName, commands } from '../command-list.ts'
import type { Database, Transaction } from '../database.ts'
import type { CommandOutcome } from '../engine.ts'
import type { Change, FeedEntry } from '../feed.ts'
import { type Sql, sql, tableOf } from '../sql/tag.ts'

/** A database that can also write. The caller begins and ends the transaction. */
export interface Writable extends Database {
  run(statement: Sql): MaybePromise<number>
  lock(query: Sql, table: string): Promise<void>
  /**
   * The chain to record in, or a parallel one. A writer locks the head of its chain until the commit, so concurrent writers
   * of one chain would each wait for the disk in turn.
   */
  freeChain(chain: string): MaybePromise<string>
}

/**
 * Runs one command, then writes its audit records, if it has an author, and its feed entries, all in the transaction of
 * `db`.
 */
export async function runCommand(
  db: Writable,
  name: CommandName,
  args: unknown,
  author?: Author,
): Promise<CommandOutcome> {
  let announced = false
  const changes: Change[] = []
  const recordings: Recording[] = []
  const tx: Transaction = {
    all: query => db.all(query),
    get: query => db.get(query),
    run: statement => db.run(statement),
    lock: (query, table) => db.lock(query, table),
    publish: change => {
      changes.push(change)
    },
    announce: () => {
      announced = true
    },
    record: recording => {
      if (author !== undefined && isChange(recording)) recordings.push(recording)
    },
  }
  const command = commands[name] as (tx: Transaction, args: unknown) => Promise<unknown>
  const result = await command(tx, args)
  if (author !== undefined && recordings.length > 0) await appendToAudit(db, author, recordings)
  return { result, entries: changes.length === 0 ? [] : await appendToFeed(db, changes), announced }
}

/**
 * The row of the counter stays locked until the commit, so numbers follow the order of commits and a rolled-back transaction
 * leaves no gap. The row also holds the newest nonce, which the next entry refers to.
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
  // Usually there is one entry, and it may be large.
  await db.run(
    more.length === 0
      ? sql`insert into feed (seq, at, nonce, previous, entry)
          values (${row.seq}, ${row.at}, ${row.nonce}, ${row.previous}, ${row.entry})`
      : sql`insert into feed (seq, at, nonce, previous, entry) select cast(seq as bigint), at, nonce, previous, entry
          from ${tableOf(rows, ['seq', 'at', 'nonce', 'previous', 'entry'])} as news`,
  )
  return entries
}

/**
 * The head of the chain stays locked until the commit, as the head of the feed does. It is always locked before that of the
 * feed, and no other lock is taken after these two, so that no deadlock is possible.
 */
async function appendToAudit(db: Writable, author: Author, recordings: readonly Recording[]): Promise<void> {
  const { actor, operation } = author
  const chain = await db.freeChain(author.chain)
  const head = await db.get<{ seq: number | string; hash: string }>(
    sql`insert into audit_heads (chain, seq, hash) values (${chain}, ${recordings.length}, '')
        on conflict (chain) do update set seq = audit_heads.seq + excluded.seq
        returning seq, hash`,
  )
  if (head === undefined) throw new Error('the chain has no head')
  const previous: ChainPoint = { seq: Number(head.seq) - recordings.length, hash: head.hash }
  const rows = chained({ ...author, chain }, recordings, previous).map(row => {
    const { seq, at, subject, place, before, after, previous, hash } = row
    return { seq, at, subject, place, before, after, previous, hash }
  })
  await db.run(
    sql`insert into audit (chain, seq, at, actor, operation, subject, place, before, after, previous, hash)
        select ${chain}, cast(seq as bigint), at, ${actor}, ${operation}, subject, place, before, after, previous, hash
        from ${tableOf(rows, ['seq', 'at', 'subject', 'place', 'before', 'after', 'previous', 'hash'])} as news`,
  )
  await db.run(
    sql`update audit_heads set hash = ${must(rows.at(-1), 'the last row of a chain').hash} where chain = ${chain}`,
  )
}
