import type { Config } from '../config.ts'
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
export async function sweepExpired(
  { commands }: Store,
  { now, settled }: SweepTimes,
  keep: Config['keep'],
  { removed, wantsToStop }: Turn,
): Promise<void> {
  const before = (days: number) => isoMillis(settled - days * DAY_MILLISECONDS)
  const sweeps = [() => commands.sweep({ now, settled, keepTokensDays: keep.tokensDays })]
  if (keep.videosDays > 0) sweeps.push(() => commands.forgetVideos({ before: before(keep.videosDays) }))
  if (keep.auditDays > 0) sweeps.push(() => commands.forgetAudit({ before: before(keep.auditDays) }))
  for (const sweep of sweeps) {
    while (!wantsToStop()) {
      const rows = await sweep()
      removed(rows)
      if (rows === 0) break
      await Bun.sleep(PAUSE_MILLISECONDS)
    }
  }
}
