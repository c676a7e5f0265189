import { jumpBetween, type SettledTime, settledTime, settleTime } from '../../domain/settled-time.ts'
import type { Transaction } from '../database.ts'
import { sql, storeClock } from '../sql/tag.ts'
import { setFact } from './cleanup.ts'

const FACT = 'clock-leads'

interface NotedTime {
  readonly now: number
  readonly settled: number
  /** The clock as it was noted. */
  readonly seen: number
  readonly isSettling: boolean
  readonly jump: number | undefined
}

/**
 * Reads the clock and records the settled time. The earlier of the caller's and the store's clock counts, so a clock that is
 * ahead deletes nothing. Agreement of the two proves nothing: both may be the clock of the same machine.
 */
export async function recordTime(
  tx: Transaction,
  args: {
    now: number
    settlingMilliseconds: number
    /** The caller's previous reading, and the time since then by its monotonic clock. */
    last?: { readonly seen: number; readonly passed: number } | undefined
  },
): Promise<NotedTime> {
  const fact = await tx.get<{ value: string }>(sql`select value from facts where name = ${FACT}`)
  const before = fact && (JSON.parse(fact.value) as SettledTime)
  const clock = await tx.get<{ now: number | string }>(sql`select ${storeClock} as now`)
  const now = Math.min(args.now, Number(clock?.now ?? args.now))
  // If another process has recorded a time since, the elapsed time is unknown.
  const passed = args.last !== undefined && args.last.seen === before?.seen ? args.last.passed : 0
  const after = settleTime(before, { now, passed }, args.settlingMilliseconds)
  await setFact(tx, { name: FACT, value: JSON.stringify(after) })
  return {
    now,
    settled: settledTime(after),
    seen: after.seen,
    isSettling: after.leads.length > 1,
    jump: before && jumpBetween(before, after),
  }
}
