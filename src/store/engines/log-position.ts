/**
 * How far the log of the primary reaches. A read that begins now may be answered by a standby that has replayed the log to
 * there: it then has everything that was acknowledged to any caller by any node.
 *
 * Timelines are not enough to compare two servers: a role without privileges cannot see which one a standby follows. So each
 * process writes a random mark when it finds a primary. A standby with the same mark has replayed the log of this primary,
 * and not that of one which was cut off and continued alone.
 */
import type { SQL } from 'bun'
import { randomAlphanumerics } from '../../kit/id.ts'
import type { Pools } from './postgres-pools.ts'
import type { Position } from './standby-choice.ts'

/** At most so often, so that many processes do not keep the primary busy with this. Reads that wait share a question. */
const INTERVAL_MILLISECONDS = 5
const MARK_LENGTH = 20
/** A parameter, so that the statements are prepared: they take more than twice as long otherwise. */
const MARK = 'select value from facts where name = $1'
const MARK_NAME = 'standby_mark'
/** A mark begins with the timeline that it was written on: those of others do not count. */
const TIMELINE = 'substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)'

/** Commits are on disk before they are acknowledged, unless the server is configured otherwise. */
const POSITION = `select (${MARK} and substr(value, 1, 8) = ${TIMELINE}) as mark,
  (case when current_setting('synchronous_commit') = 'off' then pg_current_wal_insert_lsn()
    else pg_current_wal_flush_lsn() end - '0/0'::pg_lsn)::text as lsn`

/** Of a standby; one that was promoted has none. */
const REPLAYED = `select (${MARK}) as mark,
  case when pg_is_in_recovery() then (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::text else '-1' end as lsn`

const WRITE_MARK = `insert into facts (name, value) values ($1, ${TIMELINE} || $2)
  on conflict (name) do update set value = excluded.value`

type PositionRow = { readonly mark: string | null; readonly lsn: string | null }

const readPosition = async (connection: SQL, statement: string): Promise<Position> => {
  const [row]: PositionRow[] = await connection.unsafe(statement, [MARK_NAME])
  return { mark: row?.mark ?? '', lsn: BigInt(row?.lsn ?? -1) }
}

export const replayedPosition = (connection: SQL) => readPosition(connection, REPLAYED)

/** Runs a short query on the primary. */
type Ask = <T>(pools: Pools, query: (connection: SQL) => Promise<T>) => Promise<T>

export class LogPosition {
  readonly #ask: Ask
  #askedAt = Number.NEGATIVE_INFINITY
  #asking: Promise<unknown> | undefined
  #next: Promise<Position | undefined> | undefined
  /** Of the primary on which this process has written a mark. */
  #marked: Pools | undefined
  #marking: Promise<void> | undefined

  constructor(ask: Ask) {
    this.#ask = ask
  }

  /** Asked after this call. Undefined while the primary has no mark. */
  async current(pools: Pools): Promise<Position | undefined> {
    if (this.#marked === pools) {
      this.#next ??= this.#askSoon()
      return this.#next
    }
    this.#marking ??= this.#mark(pools)
  }

  async #askSoon(): Promise<Position | undefined> {
    await this.#asking
    const pause = this.#askedAt + INTERVAL_MILLISECONDS - performance.now()
    if (pause > 0) await Bun.sleep(pause)
    // Reads that begin from now on need the next answer.
    this.#next = undefined
    const pools = this.#marked
    if (pools === undefined) return
    this.#askedAt = performance.now()
    const asked = this.#ask(pools, connection => readPosition(connection, POSITION))
    this.#asking = asked.catch(() => undefined)
    const position = await asked
    if (position.mark !== '') return position
    // It was deleted with everything else, or another server answers at this address.
    if (this.#marked === pools) this.#marked = undefined
  }

  async #mark(pools: Pools): Promise<void> {
    try {
      const mark = `/${randomAlphanumerics(MARK_LENGTH)}`
      await pools.writing.run(connection => connection.unsafe(WRITE_MARK, [MARK_NAME, mark]))
      this.#marked = pools
    } catch {
      // The next read tries again.
    } finally {
      this.#marking = undefined
    }
  }
}
