import { isRefusal } from '../../contract/problem.ts'
import { type Author, type ChainPoint, chained, isChange, type Recording } from '../../domain/audit.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { randomAlphanumerics } from '../../kit/id.ts'
import { randomInteger } from '../../kit/random-integer.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { type Lookup, lookupQuery, type RowWrite, runWrite } from '../combinable.ts'
import { type CommandName, commands, groupedUser } from '../command-list.ts'
import type { Database, Transaction } from '../database.ts'
import type { CommandOutcome } from '../engine.ts'
import type { Change, FeedEntry } from '../feed.ts'
import { rowInserts } from '../insert-rows.ts'
import { type Query, type Sql, sql, uuidValue, valuesTable } from '../sql/tag.ts'
import { Combiner } from './combiner.ts'

/** The number of a chain is random, and has four bytes on both engines. */
const MAX_CHAIN_NUMBER = 2 ** 31

/** A database that can also write. The caller begins and ends the transaction. */
export interface Writable extends Database {
  run(statement: Query): Promise<number>
  lock(query: Sql, table: string): Promise<void>
  /**
   * The chain to record in, or a parallel one. A writer locks the head of its chain until the commit, so concurrent writers
   * of one chain would each wait for the disk in turn.
   */
  freeChain(chain: string): Promise<string>
}

/** A command to run. */
export interface Job {
  readonly name: CommandName
  readonly args: unknown
  /** With an author, its changes are recorded in the audit log. */
  readonly author?: Author | undefined
}

/** What a command has done, before its audit records and its feed entries are written. */
interface Performed {
  readonly job: Job
  readonly result: unknown
  readonly changes: readonly Change[]
  readonly recordings: readonly Recording[]
  readonly announced: boolean
}

/** Runs one command, then writes its audit records and its feed entries, all in the transaction of `db`. */
export async function runCommand(
  db: Writable,
  job: Job,
  beforeAppending: () => void = () => undefined,
): Promise<CommandOutcome> {
  const done = await perform(job, db)
  const { result, changes, recordings, announced } = done
  if (changes.length + recordings.length > 0) beforeAppending()
  const entries = changes.length + recordings.length === 0 ? [] : await append(db, [done])
  return { result, entries, announced }
}

/**
 * Runs several commands side by side in the transaction of `db`, those about the same user one after another, then writes
 * the audit records and feed entries of all. A command that refuses has no outcome: it has changed nothing, and has to run
 * alone to find out whether it would refuse then.
 */
export async function runGroup(
  db: Writable,
  jobs: readonly Job[],
  beforeAppending: () => void,
): Promise<(CommandOutcome | undefined)[]> {
  const combiner = new Combiner(db)
  const done: Performed[] = []
  // In the order of the users, in which their rows are locked: groups of two nodes do not wait for each other.
  const lanes = [...Map.groupBy(jobs, job => groupedUser(job) ?? '')].sort(([a], [b]) => (a < b ? -1 : 1))
  // All have to end before the transaction does, also after a failure. The first failure is the cause of the others.
  const failures: unknown[] = []
  const run = async (lane: readonly Job[]) => {
    for (const job of lane) done.push(await perform(job, db, combiner))
  }
  await Promise.all(lanes.map(([, lane]) => run(lane).catch(error => failures.push(error))))
  if (failures.length > 0) throw failures[0]
  const kept = done.filter(({ result }) => !isRefusal(result))
  beforeAppending()
  const entries = await append(db, kept)
  const outcomes = new Map(
    kept.map(({ job, result, announced }) => [job, { result, entries, announced }] as const),
  )
  return jobs.map(job => outcomes.get(job))
}

async function perform(job: Job, db: Writable, combiner?: Combiner): Promise<Performed> {
  const tx = new CommandTransaction(db, job, combiner)
  const command = commands[job.name] as (tx: Transaction, args: unknown) => Promise<unknown>
  const result = await command(tx, job.args)
  return { job, result, changes: tx.changes, recordings: tx.recordings, announced: tx.announced }
}

/** The transaction as one command sees it. A class, because an object with closures would take a tenth of a short command. */
class CommandTransaction implements Transaction {
  readonly changes: Change[] = []
  readonly recordings: Recording[] = []
  announced = false
  readonly #db: Writable
  readonly #job: Job
  readonly #combiner: Combiner | undefined

  constructor(db: Writable, job: Job, combiner: Combiner | undefined) {
    this.#db = db
    this.#job = job
    this.#combiner = combiner
  }

  all<Row>(query: Query): Promise<Row[]> {
    return this.#db.all(query)
  }

  get<Row>(query: Query): Promise<Row | undefined> {
    return this.#db.get(query)
  }

  run(statement: Query): Promise<number> {
    return this.#db.run(statement)
  }

  lock(query: Sql, table: string): Promise<void> {
    return this.#db.lock(query, table)
  }

  lookUp<Row>(lookup: Lookup<Row>, values: readonly string[]): Promise<Row[]> {
    return this.#combiner?.lookUp(lookup, values) ?? this.#db.all(lookupQuery(lookup, values))
  }

  async write<Row>(write: RowWrite<Row>, row: Row): Promise<void> {
    await (this.#combiner?.write(write, row) ?? runWrite(this.#db, write, [row]))
  }

  publish(change: Change): void {
    this.changes.push(change)
  }

  announce(): void {
    this.announced = true
  }

  record(recording: Recording): void {
    if (this.#job.author !== undefined && isChange(recording)) this.recordings.push(recording)
  }
}

async function append(db: Writable, done: readonly Performed[]): Promise<FeedEntry[]> {
  const recorded = done.flatMap(({ job: { author }, recordings }) =>
    author === undefined || recordings.length === 0 ? [] : [{ author, recordings }],
  )
  // In one order for all transactions.
  const chains = [...Map.groupBy(recorded, ({ author }) => author.chain)].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [chain, records] of chains) await appendToAudit(db, chain, records)
  return appendToFeed(
    db,
    done.flatMap(({ changes }) => changes),
  )
}

/**
 * The row of the counter stays locked until the commit, so numbers follow the order of commits and a rolled-back transaction
 * leaves no gap. The row also holds the newest nonce, which the next entry refers to.
 */
async function appendToFeed(db: Writable, changes: readonly Change[]): Promise<FeedEntry[]> {
  if (changes.length === 0) return []
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
  await db.run(
    sql`insert into feed (seq, at, nonce, previous, entry) select cast(seq as bigint), at, nonce, previous, entry
        from ${valuesTable(rows, ['seq', 'at', 'nonce', 'previous', 'entry'])} as news`,
  )
  return entries
}

/**
 * The head of the chain stays locked until the commit, as the head of the feed does. It is always locked before that of the
 * feed, and no other lock is taken after these, so that no deadlock is possible.
 */
async function appendToAudit(
  db: Writable,
  wantedChain: string,
  records: readonly { readonly author: Author; readonly recordings: readonly Recording[] }[],
): Promise<void> {
  const chain = await db.freeChain(wantedChain)
  const count = records.reduce((sum, { recordings }) => sum + recordings.length, 0)
  const head = await db.get<{ seq: number | string; hash: string; number: number }>(
    sql`insert into audit_heads (chain, seq, hash, number)
        values (${chain}, ${count}, '', ${randomInteger(1, MAX_CHAIN_NUMBER)})
        on conflict (chain) do update set seq = audit_heads.seq + excluded.seq
        returning seq, hash, number`,
  )
  if (head === undefined) throw new Error('the chain has no head')
  let last: ChainPoint = { seq: Number(head.seq) - count, hash: head.hash }
  const rows = records.flatMap(({ author, recordings }) => {
    const added = chained({ ...author, chain }, recordings, last)
    last = assertDefined(added.at(-1), 'the last row of a chain')
    return added.map(({ seq, at, actor, operation, subject, place, before, after, previous, hash }) => {
      return { seq, at, actor, operation, subject, place, before, after, previous, hash }
    })
  })
  const recordings = records.flatMap(each => each.recordings)
  const changed = recordings.flatMap(({ entitlements = [] }, index) => {
    const { seq, at } = assertDefined(rows[index], 'the row of a recording')
    const time = Date.parse(at)
    return entitlements.map(each => [each.timestamp, uuidValue(each.id), time, seq, head.number])
  })
  const statements = [
    sql`insert into audit (chain, seq, at, actor, operation, subject, place, before, after, previous, hash)
        select ${chain}, cast(seq as bigint), at, actor, operation, subject, place, before, after, previous, hash
        from ${valuesTable(rows, ['seq', 'at', 'actor', 'operation', 'subject', 'place', 'before', 'after', 'previous', 'hash'])} as news`,
    sql`update audit_heads set hash = ${last.hash} where chain = ${chain}`,
    ...rowInserts('insert into audit_entitlements (timestamp, id, at, seq, chain)', changed, row => row),
  ]
  await Promise.all(statements.map(statement => db.run(statement)))
}
