import { isoMillis } from '../kit/clock.ts'
import type { Config } from '../server/config.ts'
import { deletedBefore, timedOf } from '../store/partition-layout.ts'
import type { Store } from '../store/store.ts'
import type { SweepTimes } from './settled-clock.ts'

const DAY_MILLISECONDS = 24 * 3600 * 1000
/** Pause between two batches, so that waiting writes get a turn. */
const PAUSE_MILLISECONDS = 10

interface Turn {
  readonly removed: (rows: number) => void
  readonly wantsToStop: () => boolean
}

/**
 * Deletes expired rows and rows past their retention in batches, until none is left or `wantsToStop` returns true. A
 * partition that has expired is dropped as a whole, and its rows are not counted.
 */
export async function sweepExpired(
  store: Store,
  { now, settled }: SweepTimes,
  keep: Config['keep'],
  { removed, wantsToStop }: Turn,
): Promise<void> {
  const { commands } = store
  const keptSince = (days: number) => settled - days * DAY_MILLISECONDS
  if (store.engine === 'postgres') {
    await commands.createPartitions({ now })
    const drops = [
      ...(keep.auditDays > 0
        ? [() => commands.dropAuditPartition({ before: keptSince(keep.auditDays) })]
        : []),
      ...(keep.eventsDays > 0
        ? [() => commands.dropEventPartition({ before: keptSince(keep.eventsDays) })]
        : []),
    ]
    for (const drop of drops) while (!wantsToStop() && (await drop())) await Bun.sleep(PAUSE_MILLISECONDS)
  }
  const partitions = await store.partitions.stored()
  const before = (days: number, table?: string) =>
    isoMillis(
      table === undefined ? keptSince(days) : deletedBefore(timedOf(partitions, table), keptSince(days)),
    )
  const sweeps = [
    () => commands.sweep({ now, settled, keepTokensDays: keep.tokensDays }),
    () => commands.purgeSubscriptions({}),
  ]
  if (keep.videosDays > 0) sweeps.push(() => commands.forgetVideos({ before: before(keep.videosDays) }))
  if (keep.auditDays > 0) sweeps.push(() => commands.forgetAudit({ before: before(keep.auditDays, 'audit') }))
  if (keep.eventsDays > 0)
    sweeps.push(() => commands.forgetEvents({ before: before(keep.eventsDays, 'events') }))
  for (const sweep of sweeps) {
    while (!wantsToStop()) {
      const rows = await sweep()
      removed(rows)
      if (rows === 0) break
      await Bun.sleep(PAUSE_MILLISECONDS)
    }
  }
}
