import { type SettledTime, type Settling, settleTime } from '../../domain/settled-time.ts'
import type { Transaction } from '../database.ts'
import { sql, storeClock } from '../sql/tag.ts'
import { noteFact } from './upkeep.ts'

const FACT = 'settled-time'

/**
 * Looks at the clock and notes the settled time. The earlier of two clocks counts, that of the caller and that of the store:
 * one that is ahead deletes nothing. That both agree proves nothing, for they may be the clock of one machine.
 */
export async function noteTime(
  tx: Transaction,
  args: {
    now: number
    settlingMilliseconds: number
    /** What the caller saw at its last look and how long ago that was, by its monotonic clock. */
    last?: { readonly seen: number; readonly passed: number } | undefined
  },
): Promise<Settling & { readonly now: number }> {
  const fact = await tx.get<{ value: string }>(sql`select value from facts where name = ${FACT}`)
  const before = fact && (JSON.parse(fact.value) as SettledTime)
  const clock = await tx.get<{ now: number | string }>(sql`select ${storeClock} as now`)
  const now = Math.min(args.now, Number(clock?.now ?? args.now))
  // Another process may have looked in between: then it is not known how much time passed since.
  const passed = args.last !== undefined && args.last.seen === before?.seen ? args.last.passed : 0
  const after = settleTime(before, { now, passed }, args.settlingMilliseconds)
  const { jump: _, ...kept } = after
  await noteFact(tx, { name: FACT, value: JSON.stringify(kept) })
  return { ...after, now }
}
