import type { Config } from '../config/config.ts'
import { isoMillis } from '../kit/time/clock.ts'
import type { Store } from '../store/store.ts'
import type { SweepTimes } from './trusted-clock.ts'

const DAY_MILLISECONDS = 24 * 3600 * 1000
/** Pause between two batches, so that waiting writes get a turn. */
const PAUSE_MILLISECONDS = 10

interface Turn {
  readonly removed: (rows: number) => void
  readonly wantsToStop: () => boolean
}

/** Deletes expired rows and rows past their retention in batches, until none is left or `wantsToStop` returns true. */
export async function sweepExpired(
  store: Store,
  { now, settled }: SweepTimes,
  keep: Config['keep'],
  { removed, wantsToStop }: Turn,
): Promise<void> {
  const { commands } = store
  const before = (days: number) => isoMillis(settled - days * DAY_MILLISECONDS)
  const sweeps = [
    () => commands.sweep({ now, settled, keepTokensDays: keep.tokensDays }),
    () => commands.purgeSubscriptions({}),
  ]
  if (keep.videosDays > 0) sweeps.push(() => commands.forgetVideos({ before: before(keep.videosDays) }))
  if (keep.auditDays > 0) sweeps.push(() => commands.pruneAudit({ before: before(keep.auditDays) }))
  if (keep.progressDays > 0) sweeps.push(() => commands.forgetProgress({ before: before(keep.progressDays) }))
  if (keep.eventsDays > 0) sweeps.push(() => commands.forgetEvents({ before: before(keep.eventsDays) }))
  for (const sweep of sweeps) {
    while (!wantsToStop()) {
      const rows = await sweep()
      removed(rows)
      if (rows === 0) break
      await Bun.sleep(PAUSE_MILLISECONDS)
    }
  }
}
