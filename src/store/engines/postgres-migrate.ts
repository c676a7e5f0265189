/**
 * Migrates a PostgreSQL that is in use, without anybody waiting for it.
 *
 * A statement that changes a table needs a lock that no reader or writer of the table may hold. While it waits for one, all
 * who come later wait behind it: beside a transaction that somebody has left open, everybody would. So a step waits for a
 * fraction of a second, gives up, lets the others pass, and tries again. Indexes are built and dropped `concurrently`, which
 * waits for others and keeps none of them waiting.
 *
 * What is done is noted step by step, so that a migration that was interrupted goes on where it was; every statement may be
 * run again. An index whose building was interrupted is left behind as invalid: it is dropped and built again.
 *
 * Only one process migrates at a time. Its turn is an advisory lock of a transaction that does nothing else, on a connection
 * of its own: that works through a pooler too, ends with the process, and does not hold up the building of an index, because
 * a transaction between two statements looks at nothing.
 */

import { SQL } from 'bun'
import { must } from '../../kit/must.ts'
import { postgresDialect } from '../sql/dialects.ts'
import {
  checksumsOf,
  type Migrated,
  noteVersion,
  readVersion,
  type StoredVersion,
  schemaFor,
  versionTable,
  withoutChecksum,
} from './migrate.ts'
import { type Migration, migrations } from './migrations/index.ts'
import { describeStep, type Step, stepsOf } from './postgres-steps.ts'
import { type AppliedMigration, requireMigratable, type SchemaState } from './schema-state.ts'

/** Any number that no other program on the same database uses for its advisory locks. */
const MIGRATION_LOCK = 7_382_945
/** How long a step waits for a lock. So long others may wait behind it. */
const LOCK_MILLISECONDS = 400
/** How long others have the table for themselves before the next attempt. */
const PAUSE_MILLISECONDS = { first: 500, longest: 5000 }
const TURN_PAUSE_MILLISECONDS = 100
const REPORT_MILLISECONDS = 5000
const MAX_WAIT_MILLISECONDS = 30 * 60_000

type Queryable = Pick<SQL, 'unsafe'>

export interface MigrationOptions {
  /** Told in a few words how it goes, when it takes longer than a moment. */
  readonly report?: (line: string) => void
  /** Give up after so many milliseconds without progress. What was done until then is kept. */
  readonly maxWait?: number
  readonly migrations?: readonly Migration[]
}

/** It was not possible to migrate in time. Reported to the operator in one sentence. */
export class MigrationStalled extends Error {
  override readonly name = 'MigrationStalled'
}

/** Brings the schema up to date. `connect` opens one more connection to the primary, without limits of time. */
export async function migratePostgres(
  connect: () => SQL,
  { report = () => undefined, maxWait = MAX_WAIT_MILLISECONDS, ...options }: MigrationOptions = {},
): Promise<Migrated> {
  const list = options.migrations ?? migrations
  const guard = connect()
  try {
    const applied = await appliedIn(guard)
    const state = requireMigratable(schemaFor(applied, postgresDialect, list))
    if (state.verdict !== 'behind' && withoutChecksum(applied, state.known).length === 0)
      return { version: state.version, applied: 0 }
    return await guard.begin(async turn => {
      const migration = new PostgresMigration(turn, list, report, maxWait)
      await migration.waitForTurn()
      const worker = connect()
      try {
        return await migration.run(worker)
      } finally {
        await worker.close({ timeout: 1 })
      }
    })
  } finally {
    await guard.close({ timeout: 1 })
  }
}

export async function postgresSchema(client: Queryable): Promise<SchemaState> {
  return schemaFor(await appliedIn(client), postgresDialect)
}

/** As JSON, because columns may come to the table while a connection remembers how the answer looked before. */
async function appliedIn(client: Queryable): Promise<AppliedMigration[]> {
  const [table] = await client.unsafe("select to_regclass('schema_versions') is not null as made")
  if (!table.made) return []
  const rows: { row: string }[] = await client.unsafe(
    'select cast(to_json(v) as text) as row from schema_versions v order by version',
  )
  return rows.map(({ row }) => readVersion(JSON.parse(row) as StoredVersion))
}

const progressTable = `create table if not exists schema_progress (
  version integer primary key,
  checksum ${postgresDialect.key} not null,
  steps integer not null
)`

class PostgresMigration {
  /** The transaction that holds the turn. It is asked how things are, but never about our tables: it would keep the lock. */
  readonly #turn: Queryable
  readonly #list: readonly Migration[]
  readonly #report: (line: string) => void
  readonly #maxWait: number
  #deadline: number
  /** How far an index was when it was last looked at. */
  #seen = ''

  constructor(turn: Queryable, list: readonly Migration[], report: (line: string) => void, maxWait: number) {
    this.#turn = turn
    this.#list = list
    this.#report = report
    this.#maxWait = maxWait
    this.#deadline = performance.now() + maxWait
  }

  async waitForTurn(): Promise<void> {
    // The transaction stays open, and idle, for as long as it takes.
    await this.#turn.unsafe('set local idle_in_transaction_session_timeout = 0')
    for (let reported = 0; ; ) {
      const [{ mine }] = await this.#turn.unsafe(
        `select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as mine`,
      )
      if (mine) return
      if (performance.now() > this.#deadline) {
        throw new MigrationStalled(
          'another process has been migrating the store for a long time: look at its log, or end it, and start again',
        )
      }
      if (performance.now() - reported > REPORT_MILLISECONDS) {
        reported = performance.now()
        this.#report('another process is migrating the store: waiting for it')
      }
      await Bun.sleep(TURN_PAUSE_MILLISECONDS)
    }
  }

  async run(worker: SQL): Promise<Migrated> {
    const applied = await appliedIn(worker)
    const state = requireMigratable(schemaFor(applied, postgresDialect, this.#list))
    if (state.verdict === 'compatible') return { version: state.version, applied: 0 }
    const [{ empty }] = await worker.unsafe("select to_regclass('users') is null as empty")
    if (empty) await this.#create(worker)
    else {
      const forgotten = withoutChecksum(applied, state.known)
      await this.#inTransaction(worker, 'prepare', [
        versionTable(postgresDialect),
        progressTable,
        ...forgotten.map(version => noteVersion(version, this.#list, postgresDialect)),
      ])
      for (let version = state.version + 1; version <= this.#list.length; version++) {
        await this.#apply(worker, version)
      }
    }
    return { version: this.#list.length, applied: this.#list.length - state.version }
  }

  /** Nobody uses a store that is not there yet: all of it is one transaction. */
  async #create(worker: SQL): Promise<void> {
    await worker.begin(async tx => {
      await tx.unsafe(versionTable(postgresDialect))
      await tx.unsafe(progressTable)
      for (const [index, migration] of this.#list.entries()) {
        await tx.unsafe(migration.text(postgresDialect))
        await tx.unsafe(noteVersion(index + 1, this.#list, postgresDialect))
      }
    })
  }

  async #apply(worker: SQL, version: number): Promise<void> {
    const steps = stepsOf(must(this.#list[version - 1], `migration ${version}`).text(postgresDialect))
    const checksum = must(
      checksumsOf(this.#list, postgresDialect)[version - 1],
      `the checksum of migration ${version}`,
    )
    const [progress] = await worker.unsafe(
      `select steps from schema_progress where version = ${version} and checksum = '${checksum}'`,
    )
    const noteStep = (done: number) =>
      `insert into schema_progress (version, checksum, steps) values (${version}, '${checksum}', ${done})
       on conflict (version) do update set checksum = excluded.checksum, steps = excluded.steps`
    for (let index = progress?.steps ?? 0; index < steps.length; index++) {
      const step = steps[index] as Step
      const label = `migration ${version}, step ${index + 1} of ${steps.length} (${describeStep(step)})`
      this.#report(label)
      this.#deadline = performance.now() + this.#maxWait
      // Whoever has lost the turn must not go on beside another.
      await this.#turn.unsafe('select 1')
      if (step.kind === 'transaction')
        await this.#inTransaction(worker, label, [...step.statements, noteStep(index + 1)])
      else {
        await this.#changeIndex(worker, label, step)
        await this.#inTransaction(worker, label, [noteStep(index + 1)])
      }
    }
    await this.#inTransaction(worker, `migration ${version}`, [
      noteVersion(version, this.#list, postgresDialect),
      `delete from schema_progress where version = ${version}`,
    ])
  }

  #inTransaction(worker: SQL, label: string, statements: readonly string[]): Promise<void> {
    return this.#untilPossible(label, () =>
      worker.begin(async tx => {
        await tx.unsafe(`set local lock_timeout = ${LOCK_MILLISECONDS}`)
        for (const statement of statements) await tx.unsafe(statement)
      }),
    )
  }

  #changeIndex(
    worker: SQL,
    label: string,
    { kind, index, statement }: Exclude<Step, { kind: 'transaction' }>,
  ): Promise<void> {
    const watch = setInterval(() => {
      void this.#watch(label, statement).catch(() => undefined)
    }, REPORT_MILLISECONDS)
    const change = async () => {
      const [found] = await worker.unsafe(
        `select indisvalid as valid from pg_index where indexrelid = to_regclass('${index}')`,
      )
      if (kind === 'build' && found?.valid) return
      if (kind === 'build' && found !== undefined) {
        this.#report(`${label}: dropping what an interrupted attempt has left behind`)
        await worker.unsafe(`drop index concurrently if exists ${index}`)
      }
      await worker.unsafe(statement)
    }
    return this.#untilPossible(label, change).finally(() => clearInterval(watch))
  }

  /** Reports how far an index is, and cancels its statement when nothing has moved for too long. */
  async #watch(label: string, statement: string): Promise<void> {
    const [running] = await this.#turn.unsafe(
      `select a.pid, p.phase, p.blocks_done as done, p.blocks_total as total, p.current_locker_pid as locker
       from pg_stat_activity a left join pg_stat_progress_create_index p on p.pid = a.pid
       where a.datname = current_database() and a.state = 'active' and a.query = '${statement.replaceAll("'", "''")}'`,
    )
    if (running === undefined) return
    const { pid, phase, done, total, locker } = running
    const seen = `${phase} ${done}`
    if (seen !== this.#seen) this.#deadline = performance.now() + this.#maxWait
    this.#seen = seen
    if (performance.now() > this.#deadline) await this.#turn.unsafe(`select pg_cancel_backend(${pid})`)
    const share = Number(total) > 0 ? `, ${Math.floor((Number(done) * 100) / Number(total))} %` : ''
    const waiting = Number(locker) > 0 ? `; ${await this.#transactionOf(Number(locker))}` : ''
    this.#report(`${label}: ${phase ?? 'waiting for transactions that are open'}${share}${waiting}`)
  }

  /** Tries until the locks were free, with pauses in which everybody else has the table. */
  async #untilPossible(label: string, attempt: () => Promise<void>): Promise<void> {
    for (let pause = PAUSE_MILLISECONDS.first; ; pause = Math.min(pause * 2, PAUSE_MILLISECONDS.longest)) {
      try {
        return await attempt()
      } catch (error) {
        const isLate = performance.now() > this.#deadline
        if (!isLate && !isLockProblem(error)) throw error
        const holder = await this.#transactionOf()
        if (isLate) {
          throw new MigrationStalled(
            `${label} was not possible in time: ${holder}. End it and run strand migrate again; what was done is kept`,
          )
        }
        this.#report(`${label}: ${holder}, trying again in ${pause / 1000} s`)
        await Bun.sleep(pause)
      }
    }
  }

  /** The transaction of a process, or else the oldest one: that is who is waited for. */
  async #transactionOf(pid?: number): Promise<string> {
    const [oldest] = await this.#turn.unsafe(
      `select pid, coalesce(nullif(application_name, ''), 'a client') as name,
         extract(epoch from clock_timestamp() - xact_start)::int as seconds
       from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
         and query not like '%pg_try_advisory_xact_lock%' ${pid === undefined ? '' : `and pid = ${pid}`}
       order by xact_start limit 1`,
    )
    if (oldest === undefined) return 'another transaction holds a lock'
    return `process ${oldest.pid} (${oldest.name}) has had a transaction open for ${oldest.seconds} s`
  }
}

/** Lock not available, deadlock, or a statement that was cancelled for the sake of others. */
function isLockProblem(error: unknown): boolean {
  return error instanceof SQL.PostgresError && /^(55P03|40P01|40001)$/.test(String(error.errno ?? ''))
}
