/**
 * Migrates PostgreSQL while it is in use, without blocking other sessions.
 *
 * A statement that changes a table needs a lock that conflicts with all readers and writers of the table. While it waits for
 * the lock, later statements queue behind it, so that one idle transaction would block all traffic. Therefore a step waits
 * for a fraction of a second, gives up, lets others pass, and tries again. Indexes are built and dropped `concurrently`,
 * which waits for others and blocks none of them.
 *
 * Progress is recorded by step, so that an interrupted migration resumes where it stopped; every statement can be repeated.
 * An interrupted index build leaves an invalid index behind, which is dropped and built again.
 *
 * Only one process migrates at a time. It holds an advisory lock in a transaction that does nothing else, on a separate
 * connection. This works through a pooler, ends with the process, and does not delay index builds, because a transaction
 * that is idle between statements holds no snapshot.
 */

import { SQL } from 'bun'
import { assertDefined } from '../../kit/assert-defined.ts'
import {
  computeChecksums,
  type Migrated,
  readVersion,
  recordVersion,
  type StoredVersion,
  schemaFor,
  versionTable,
} from '../engine/migrate.ts'
import { type AppliedMigration, requireMigratable, type SchemaState } from '../engine/schema-state.ts'
import { type Migration, migrations } from '../schema/index.ts'
import { postgresDialect } from '../sql/dialects.ts'
import { analyzeTables } from './analyze-tables.ts'
import { describeHolder, describeProcess, LockWait } from './lock-holders.ts'
import { describeStep, type Step, splitSteps } from './postgres-steps.ts'

/** Arbitrary; must differ from the advisory locks of other programs on the same database. */
const MIGRATION_LOCK = 7_382_945
/** How long a step waits for a lock, and at most how long others wait behind it. */
const LOCK_MILLISECONDS = 400
/** The pause between attempts, in which others can use the table. */
const PAUSE_MILLISECONDS = { first: 500, longest: 5000 }
const LOCK_RETRY_MILLISECONDS = 100
const REPORT_MILLISECONDS = 5000
const MAX_WAIT_MILLISECONDS = 30 * 60_000

type Queryable = Pick<SQL, 'unsafe'>
type IndexStep = Extract<Step, { kind: 'build' | 'drop' }>

export interface MigrationOptions {
  /** Called with progress lines of a long migration. */
  readonly report?: (line: string) => void
  /** Milliseconds without progress after which it gives up. Completed steps are kept. */
  readonly maxWait?: number
  readonly migrations?: readonly Migration[]
}

/** The migration made no progress in time. The message is one sentence for the operator. */
export class MigrationStalled extends Error {
  override readonly name = 'MigrationStalled'
}

/** Brings the schema up to date. `connect` opens another connection to the primary, without timeouts. */
export async function migratePostgres(
  connect: () => SQL,
  { report = () => undefined, maxWait = MAX_WAIT_MILLISECONDS, ...options }: MigrationOptions = {},
): Promise<Migrated> {
  const list = options.migrations ?? migrations
  const guard = connect()
  try {
    const state = requireMigratable(schemaFor(await appliedIn(guard), postgresDialect, list))
    if (state.verdict !== 'behind') {
      await analyzeTables(guard, report, { again: false })
      return { version: state.version, applied: 0 }
    }
    const migrated = await guard.begin(async lock => {
      const migration = new PostgresMigration(lock, list, report, maxWait)
      await migration.acquireLock()
      const worker = connect()
      try {
        return await migration.run(worker)
      } finally {
        await worker.close({ timeout: 1 })
      }
    })
    await analyzeTables(guard, report, { again: migrated.applied > 0 })
    return migrated
  } finally {
    await guard.close({ timeout: 1 })
  }
}

export async function postgresSchema(client: Queryable): Promise<SchemaState> {
  return schemaFor(await appliedIn(client), postgresDialect)
}

async function appliedIn(client: Queryable): Promise<AppliedMigration[]> {
  const [table] = await client.unsafe("select to_regclass('schema_versions') is not null as found")
  if (!table.found) return []
  const rows: StoredVersion[] = await client.unsafe(
    'select version, checksum, additive from schema_versions order by version',
  )
  return rows.map(readVersion)
}

const progressTable = `create table if not exists schema_progress (
  version integer primary key,
  checksum ${postgresDialect.key} not null,
  steps integer not null
)`

class PostgresMigration {
  /** The transaction with the advisory lock. It must not query our tables, or it would keep locks on them. */
  readonly #lock: Queryable
  readonly #list: readonly Migration[]
  readonly #report: (line: string) => void
  readonly #maxWait: number
  #deadline: number
  /** The progress of an index build at the last check. */
  #lastProgress = ''
  /** Whom the last attempt has waited for, if that is known. */
  #holder: string | undefined

  constructor(lock: Queryable, list: readonly Migration[], report: (line: string) => void, maxWait: number) {
    this.#lock = lock
    this.#list = list
    this.#report = report
    this.#maxWait = maxWait
    this.#deadline = performance.now() + maxWait
  }

  async acquireLock(): Promise<void> {
    // The transaction is idle during the whole migration.
    await this.#lock.unsafe('set local idle_in_transaction_session_timeout = 0')
    let found: string | undefined
    const holder = () => found ?? 'it has just ended'
    for (let reportedAt = Number.NEGATIVE_INFINITY; ; ) {
      const [{ acquired }] = await this.#lock.unsafe(
        `select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as acquired`,
      )
      if (acquired) return
      if (performance.now() > this.#deadline) {
        throw new MigrationStalled(
          `another process has been migrating the store for too long (${holder()}): check its log, or stop it, and try again`,
        )
      }
      if (performance.now() - reportedAt > REPORT_MILLISECONDS) {
        reportedAt = performance.now()
        found = await describeHolder(this.#lock, MIGRATION_LOCK)
        this.#report(`waiting for another process that is migrating the store: ${holder()}`)
      }
      await Bun.sleep(LOCK_RETRY_MILLISECONDS)
    }
  }

  async run(worker: SQL): Promise<Migrated> {
    const state = requireMigratable(schemaFor(await appliedIn(worker), postgresDialect, this.#list))
    if (state.verdict === 'compatible') return { version: state.version, applied: 0 }
    const [{ empty }] = await worker.unsafe("select to_regclass('users') is null as empty")
    if (empty) await this.#create(worker)
    else {
      for (let version = state.version + 1; version <= this.#list.length; version++) {
        await this.#apply(worker, version)
      }
    }
    return { version: this.#list.length, applied: this.#list.length - state.version }
  }

  /** A new store has no users yet, so one transaction creates it. */
  async #create(worker: SQL): Promise<void> {
    await worker.begin(async tx => {
      await tx.unsafe(versionTable(postgresDialect))
      await tx.unsafe(progressTable)
      for (const [index, migration] of this.#list.entries()) {
        await tx.unsafe(migration.text(postgresDialect))
        await tx.unsafe(recordVersion(index + 1, this.#list, postgresDialect))
      }
    })
  }

  async #apply(worker: SQL, version: number): Promise<void> {
    const migration = assertDefined(this.#list[version - 1], `migration ${version}`)
    if (!migration.additive)
      this.#report(
        `migration ${version} is not additive: nodes of earlier versions cannot use the store any more; replace them`,
      )
    const steps = splitSteps(migration.text(postgresDialect))
    const checksum = assertDefined(
      computeChecksums(this.#list, postgresDialect)[version - 1],
      `the checksum of migration ${version}`,
    )
    const [progress] = await worker.unsafe(
      `select steps from schema_progress where version = ${version} and checksum = '${checksum}'`,
    )
    const recordStep = (done: number) =>
      `insert into schema_progress (version, checksum, steps) values (${version}, '${checksum}', ${done})
       on conflict (version) do update set checksum = excluded.checksum, steps = excluded.steps`
    for (let index = progress?.steps ?? 0; index < steps.length; index++) {
      const step = steps[index] as Step
      const label = `migration ${version}, step ${index + 1} of ${steps.length} (${describeStep(step)})`
      await this.#perform(worker, label, step, recordStep(index + 1))
    }
    await this.#inTransaction(worker, `migration ${version}`, [
      recordVersion(version, this.#list, postgresDialect),
      `delete from schema_progress where version = ${version}`,
    ])
  }

  /** Runs a step, and then `record`: in the same transaction, if the step is one. */
  async #perform(worker: SQL, label: string, step: Step, record: string): Promise<void> {
    this.#report(label)
    this.#deadline = performance.now() + this.#maxWait
    // Fails if the lock was lost: another process may be migrating.
    await this.#lock.unsafe('select 1')
    if (step.kind === 'transaction') return this.#inTransaction(worker, label, [...step.statements, record])
    if (step.kind === 'repeat') await this.#repeat(worker, label, step.statement)
    else await this.#changeIndex(worker, label, step)
    await this.#inTransaction(worker, label, [record])
  }

  #inTransaction(worker: SQL, label: string, statements: readonly string[]): Promise<void> {
    return this.#retryUntilUnlocked(label, async () => {
      await this.#attempt(worker, async tx => {
        for (const statement of statements) await tx.unsafe(statement)
      })
    })
  }

  /** A transaction that waits only briefly for locks. If it fails, `#holder` is the session that had one. */
  async #attempt<T>(worker: SQL, work: (tx: Queryable) => Promise<T>): Promise<T> {
    const wait = new LockWait(this.#lock)
    try {
      return await worker.begin(async tx => {
        await tx.unsafe(`set local lock_timeout = ${LOCK_MILLISECONDS}`)
        await wait.watch(tx)
        return work(tx)
      })
    } finally {
      await wait.end()
      this.#holder = wait.holder
    }
  }

  /** Repeats an update until it changes no row. Interrupted, it continues with the rows that are left. */
  async #repeat(worker: SQL, label: string, statement: string): Promise<void> {
    let reportedAt = performance.now()
    for (let total = 0, changed = 1; changed > 0; total += changed) {
      await this.#retryUntilUnlocked(label, async () => {
        // It waits less than PostgreSQL takes to find a deadlock, so that it is never others who fail.
        changed = await this.#attempt(worker, async tx => (await tx.unsafe(statement)).count)
      })
      this.#deadline = performance.now() + this.#maxWait
      if (performance.now() - reportedAt < REPORT_MILLISECONDS) continue
      reportedAt = performance.now()
      this.#report(`${label}: ${total + changed} rows`)
    }
  }

  #changeIndex(worker: SQL, label: string, { kind, index, statement }: IndexStep): Promise<void> {
    const watch = setInterval(() => {
      void this.#watch(label, statement).catch(() => undefined)
    }, REPORT_MILLISECONDS)
    const change = async () => {
      const [found] = await worker.unsafe(
        `select indisvalid as valid from pg_index where indexrelid = to_regclass('${index}')`,
      )
      if (kind === 'build' && found?.valid) return
      if (kind === 'build' && found !== undefined) {
        this.#report(`${label}: dropping the invalid index of an interrupted build`)
        await worker.unsafe(`drop index concurrently if exists ${index}`)
      }
      await worker.unsafe(statement)
    }
    return this.#retryUntilUnlocked(label, change).finally(() => clearInterval(watch))
  }

  /** Reports the progress of an index, and cancels its statement after too long without progress. */
  async #watch(label: string, statement: string): Promise<void> {
    const [running] = await this.#lock.unsafe(
      `select a.pid, p.phase, p.blocks_done as done, p.blocks_total as total, p.current_locker_pid as locker
       from pg_stat_activity a left join pg_stat_progress_create_index p on p.pid = a.pid
       where a.datname = current_database() and a.state = 'active' and a.query = '${statement.replaceAll("'", "''")}'`,
    )
    if (running === undefined) return
    const { pid, phase, done, total, locker } = running
    const progress = `${phase} ${done}`
    if (progress !== this.#lastProgress) this.#deadline = performance.now() + this.#maxWait
    this.#lastProgress = progress
    if (performance.now() > this.#deadline) await this.#lock.unsafe(`select pg_cancel_backend(${pid})`)
    const share = Number(total) > 0 ? `, ${Math.floor((Number(done) * 100) / Number(total))} %` : ''
    this.#holder = Number(locker) > 0 ? await describeProcess(this.#lock, Number(locker)) : undefined
    const waiting = this.#holder === undefined ? '' : `; ${this.#holder}`
    this.#report(`${label}: ${phase ?? 'waiting for open transactions'}${share}${waiting}`)
  }

  /** Retries until the locks are free, with pauses in which others can use the table. */
  async #retryUntilUnlocked(label: string, attempt: () => Promise<void>): Promise<void> {
    for (let pause = PAUSE_MILLISECONDS.first; ; pause = Math.min(pause * 2, PAUSE_MILLISECONDS.longest)) {
      try {
        return await attempt()
      } catch (error) {
        const isLate = performance.now() > this.#deadline
        if (!isLate && !isLockFailure(error)) throw error
        const holder = this.#holder ?? 'another transaction holds a lock'
        if (isLate) {
          throw new MigrationStalled(
            `${label} timed out: ${holder}. End it and try again; completed steps are kept`,
          )
        }
        this.#report(`${label}: ${holder}, retrying in ${pause / 1000} s`)
        await Bun.sleep(pause)
      }
    }
  }
}

/** Lock not available, deadlock, or serialization failure. */
function isLockFailure(error: unknown): boolean {
  return error instanceof SQL.PostgresError && /^(55P03|40P01|40001)$/.test(String(error.errno ?? ''))
}
