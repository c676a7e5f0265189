import type { Retention } from '../config.ts'
import { isoMillis } from '../kit/clock.ts'
import type { Store } from '../store/store.ts'
import type { SweepTimes } from './settled-clock.ts'

const DAY_MILLISECONDS = 24 * 3600 * 1000
/** Between two batches, so that whoever waits to write has a turn. */
const PAUSE_MILLISECONDS = 10

interface Turn {
  readonly removed: (rows: number) => void
  readonly wantsToStop: () => boolean
}

/**
 * Removes what has run out and what need not be kept any longer, batch by batch, until nothing is left or somebody wants to
 * stop.
 */
export async function keepHouse(
  { commands }: Store,
  { now, settled }: SweepTimes,
  keep: Retention,
  { removed, wantsToStop }: Turn,
): Promise<void> {
  const before = (days: number) => isoMillis(settled - days * DAY_MILLISECONDS)
  const chores = [() => commands.sweep({ now, settled, keepTokensDays: keep.tokensDays })]
  if (keep.videosDays > 0) chores.push(() => commands.forgetVideos({ before: before(keep.videosDays) }))
  if (keep.auditDays > 0) chores.push(() => commands.forgetAudit({ before: before(keep.auditDays) }))
  for (const chore of chores) {
    while (!wantsToStop()) {
      const rows = await chore()
      removed(rows)
      if (rows === 0) break
      await Bun.sleep(PAUSE_MILLISECONDS)
    }
  }
}
