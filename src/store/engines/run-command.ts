import { type Author, type ChainPoint, chained, isChange, type Recording } from '../../domain/audit.ts'
import { isoMillis } from '../../kit/clock.ts'
import { randomAlphanumerics } from '../../kit/id.ts'
import type { MaybePromise } from '../../kit/maybe-promise.ts'
import { must } from '../../kit/must.ts'
import { type CommandName, commands } from '../commands/index.ts'
import type { Database, Transaction } from '../database.ts'
import type { Change, FeedEntry } from '../feed.ts'
import { type Sql, sql, tableOf } from '../sql/tag.ts'

/** A database that can also write, inside a transaction that somebody else begins and ends. */
export interface Writable extends Database {
  run(statement: Sql): MaybePromise<number>
  lock(query: Sql, table: string): Promise<void>
  /**
   * The chain to record in, or one beside it that stands for it. Whoever writes in a chain holds its head until the commit:
   * where many write at once, they would all queue behind one another's wait for the disk.
   */
  freeChain(chain: string): MaybePromise<string>
}

/**
 * Runs one command and writes behind it what the audit log is to know of it, if it has an author, and its feed entries: all
 * in the transaction that `db` stands in.
 */
export async function runCommand(
  db: Writable,
  name: CommandName,
  args: unknown,
  author?: Author,
): Promise<{ result: unknown; entries: readonly FeedEntry[] }> {
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
    record: recording => {
      if (author !== undefined && isChange(recording)) recordings.push(recording)
    },
  }
  const command = commands[name] as (tx: Transaction, args: unknown) => Promise<unknown>
  const result = await command(tx, args)
  if (author !== undefined && recordings.length > 0) await appendToAudit(db, author, recordings)
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

/**
 * The head of the chain stays locked until the commit, as that of the feed does. It is taken before the feed's by everybody,
 * and nothing else is taken behind either, so that nobody waits for one another.
 */
async function appendToAudit(db: Writable, author: Author, recordings: readonly Recording[]): Promise<void> {
  const { actor, operation } = author
  const chain = await db.freeChain(author.chain)
  const head = await db.get<{ seq: number | string; hash: string }>(
    sql`insert into audit_heads (chain, seq, hash) values (${chain}, ${recordings.length}, '')
        on conflict (chain) do update set seq = audit_heads.seq + excluded.seq
        returning seq, hash`,
  )
  if (head === undefined) throw new Error('a chain has a head')
  const behind: ChainPoint = { seq: Number(head.seq) - recordings.length, hash: head.hash }
  const rows = chained({ ...author, chain }, recordings, behind).map(row => {
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
