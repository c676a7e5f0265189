/** Names the sessions that stand in the way of a migration. Their statements are not shown: they may contain secrets. */
import type { SQL } from 'bun'

type Queryable = Pick<SQL, 'unsafe'>

/** When it is known for certain whom a statement waits for, while it still waits. */
const SAMPLE_MILLISECONDS = 200

/** Which processes a condition of `pg_stat_activity` finds, the one with the oldest transaction first. */
async function describeSessions(observer: Queryable, condition: string): Promise<string | undefined> {
  const sessions: SessionRow[] = await observer.unsafe(
    `select pid, coalesce(application_name, '') as name, coalesce(state, '') as state,
       extract(epoch from clock_timestamp() - xact_start)::int as transaction,
       extract(epoch from clock_timestamp() - query_start)::int as statement
     from pg_stat_activity where ${condition} order by xact_start nulls last limit 3`,
  )
  return sessions.length === 0 ? undefined : sessions.map(describeSession).join(', ')
}

interface SessionRow {
  readonly pid: number
  readonly name: string
  readonly state: string
  /** How long ago its transaction and its last statement began, in seconds. Unknown for sessions of other roles. */
  readonly transaction: number | null
  readonly statement: number | null
}

function describeSession({ pid, name, state, transaction, statement }: SessionRow): string {
  const what = [name || 'a client', state].filter(Boolean).join(', ')
  const since = statement === null ? '' : `, its last statement began ${statement} s ago`
  const open =
    transaction === null
      ? 'holds a lock (grant pg_monitor to see more)'
      : `has had a transaction open for ${transaction} s${since}`
  return `process ${pid} (${what}) ${open}`
}

export const describeProcess = (observer: Queryable, pid: number) =>
  describeSessions(observer, `pid = ${pid}`)

/** Who holds an advisory lock whose key has one number. */
export const describeHolder = (observer: Queryable, key: number) =>
  describeSessions(
    observer,
    `pid in (select pid from pg_locks where locktype = 'advisory' and classid = 0 and objid = ${key} and granted
       and database = (select oid from pg_database where datname = current_database()))`,
  )

/** Finds out whom a transaction waits for, as long as it runs. */
export class LockWait {
  readonly #observer: Queryable
  #timer: Timer | undefined
  #sampling: Promise<void> | undefined
  /** Undefined if it has not waited. */
  holder: string | undefined

  constructor(observer: Queryable) {
    this.#observer = observer
  }

  /** Watches the session of a transaction that has just begun. */
  async watch(transaction: Queryable): Promise<void> {
    const [{ pid }] = await transaction.unsafe('select pg_backend_pid() as pid')
    this.#timer = setTimeout(() => {
      this.#sampling = describeSessions(this.#observer, `pid = any(pg_blocking_pids(${pid}))`).then(
        found => {
          this.holder = found
        },
        () => undefined,
      )
    }, SAMPLE_MILLISECONDS)
  }

  async end(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#sampling
  }
}
