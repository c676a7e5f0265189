/** Recurring work of a running app: following the feed and the master keys, and sweeping the store in turn. */

import type { Config } from '../config/config.ts'
import { type DataFolder, KEYS_FOLLOWED_MILLISECONDS } from '../config/data-folder.ts'
import { uuid } from '../kit/id.ts'
import type { Lifetime } from '../kit/lifetime.ts'
import type { Log } from '../kit/telemetry/log.ts'
import { repeaterOf } from '../kit/telemetry/log-outages.ts'
import { ClockSkips } from '../kit/time/clock-skips.ts'
import { claimReachedDrops } from '../maintenance/claim-reached-drops.ts'
import type { StoreReport } from '../maintenance/store-report.ts'
import { sweepExpired } from '../maintenance/sweep-expired.ts'
import type { SweepTimes, TrustedClock } from '../maintenance/trusted-clock.ts'
import type { Recordings } from '../media/recording/recordings.ts'
import type { TimedWork } from '../operations/demo/demo-timeline.ts'
import type { Services } from '../operations/implement.ts'
import { type MetricsHistory, SAMPLE_MILLISECONDS } from '../site/console/history.ts'
import type { FeedFollower } from '../store/follower.ts'
import type { Store } from '../store/store.ts'
import type { Role } from './app-options.ts'
import type { MetricsExporter } from './metrics.ts'

const FEED_POLL_MILLISECONDS = 250
export const AVAILABILITY_MILLISECONDS = 500
const BROADCAST_MILLISECONDS = 1000
const VIEWER_REPORT_MILLISECONDS = 5000
const WATCH_TIME_MILLISECONDS = 5000
const AUTO_CLAIM_MILLISECONDS = 60_000
const RECORDING_MILLISECONDS = 60_000
const STORE_REPORT_MILLISECONDS = 60_000
const DEMO_MILLISECONDS = 100
const HOUR_MILLISECONDS = 3_600_000

export interface JobContext {
  readonly config: Config
  readonly log: Log
  readonly services: Services
  readonly follower: FeedFollower
  readonly folder: DataFolder
  readonly metrics: MetricsExporter
  readonly trustedClock: TrustedClock
  readonly report: StoreReport
  readonly history: MetricsHistory
  readonly recordings: Recordings | undefined
  /** Only servers take turns sweeping the store. */
  readonly role: Role
  isDraining(): boolean
}

export function startBackgroundJobs(lifetime: Lifetime, context: JobContext): void {
  const { config, log, services, follower, folder, metrics, trustedClock, report } = context
  const every = repeaterOf(lifetime, log)
  const followMasterKeys = async () => {
    if (folder.followMasterKeys()) log.info({ key_ids: folder.ring.ids }, 'master keys changed')
  }
  const turn = { name: 'sweep', holder: uuid(), seconds: 2 * config.sweepSeconds }
  const sweepInTurn = async () => {
    if (!(await services.store.commands.takeTurn(turn))) return
    await metrics.sweeps.during(async removed => {
      await sweepExpired(services.store, await sweepTimes(services, trustedClock), config.keep, {
        removed,
        wantsToStop: () => context.isDraining(),
      })
    })
  }
  every(AVAILABILITY_MILLISECONDS, logAvailability(services.store, log), 'store health check failed')
  const followFeed = async () => {
    if (follower.hasLoaded) await follower.catchUp()
  }
  every(FEED_POLL_MILLISECONDS, followFeed, 'reading the feed failed')
  // The first attempt starts at once, and the next one reports its failure.
  void services.directory.complete().catch(() => undefined)
  every(FEED_POLL_MILLISECONDS, () => services.directory.complete(), 'reading live streams failed')
  lifetime.onClose(() => services.directory.close())
  every(KEYS_FOLLOWED_MILLISECONDS, followMasterKeys, 'reading the master keys failed')
  if (context.role === 'command') return
  const skips = new ClockSkips(services.clock)
  let listensSince = services.clock.now()
  const endSilentBroadcasts = async () => {
    const now = services.clock.now()
    // Nothing could be heard in the time that was skipped.
    if (skips.look()) listensSince = now
    const due = { now, graceSeconds: config.reconnectGraceSeconds, listensSince }
    try {
      // A read first: most of the time there is nothing to write.
      while (await services.store.streams.hasSilentBroadcasts(due))
        await services.store.commands.endSilentBroadcasts(due)
    } catch (error) {
      // Signs of life cannot arrive either: a broadcast is not silent because the store was away.
      listensSince = services.clock.now()
      throw error
    }
  }
  const removeRecordings = async () => {
    await context.recordings?.removeUnknown(ids => services.store.videos.existing(ids))
  }
  every(RECORDING_MILLISECONDS, removeRecordings, 'deleting recordings of deleted videos failed')
  every(BROADCAST_MILLISECONDS, endSilentBroadcasts, 'ending broadcasts without a publisher failed')
  every(VIEWER_REPORT_MILLISECONDS, () => services.heartbeats.report(), 'reporting viewers failed')
  every(WATCH_TIME_MILLISECONDS, () => services.watchTime.flush(), 'writing watched minutes failed')
  // What heartbeats have counted until now is not lost with the process (D-215).
  lifetime.onClose(() => services.watchTime.close().catch(error => logUnflushed(log, error)))
  const claimTurn = { name: 'auto-claim', holder: turn.holder, seconds: 120 }
  const claimUnclaimed = async () => {
    if (!(await services.store.commands.takeTurn(claimTurn))) return
    await claimReachedDrops(services.store, services.clock.now(), () => context.isDraining())
  }
  every(AUTO_CLAIM_MILLISECONDS, claimUnclaimed, 'claiming drops for viewers failed')
  const { demo } = services
  if (demo !== undefined) {
    demo.timeline.use('claims', playedClaims(services))
    every(DEMO_MILLISECONDS, () => demo.timeline.runDue(), 'an event of the demo failed; it is tried again')
  }
  every(STORE_REPORT_MILLISECONDS, () => report.refresh(), 'reading the size of the store failed')
  every(SAMPLE_MILLISECONDS, () => context.history.sample(), 'reading the metrics failed')
  every(config.sweepSeconds * 1000, sweepInTurn, 'sweeping the store failed')
}

/**
 * Claims for viewers while the clock of a demo is moved: after an hour and at the end of campaigns. Later looks of the same
 * move would find nothing, because what viewers reach is claimed with their minutes.
 */
function playedClaims({ store, clock, campaigns }: Services): TimedWork {
  let due: number[] = []
  const look = async () => {
    due = due.filter(time => time > clock.now())
    await claimReachedDrops(store, clock.now(), () => false)
  }
  return {
    begin: () => {
      const now = clock.now()
      const open = campaigns.list().filter(({ campaign, times }) => campaign.auto_claim && times.closes > now)
      const times = open.flatMap(({ times: { ends } }) => [now + HOUR_MILLISECONDS, ends])
      due = times.filter(time => time > now).sort((one, other) => one - other)
    },
    nextAt: () => due[0],
    run: look,
  }
}

function logUnflushed(log: Log, error: unknown): void {
  log.warn({ error: String(error) }, 'the last watched minutes were not written')
}

/** The clock of a demo is moved on purpose, so it counts as settled. */
async function sweepTimes({ clock, demo }: Services, trustedClock: TrustedClock): Promise<SweepTimes> {
  return demo === undefined ? trustedClock.look() : { now: Date.now(), settled: clock.now() }
}

/** Logs when the store stops accepting writes, with the reason, and when it accepts them again. */
function logAvailability(store: Store, log: Log): () => Promise<void> {
  let logged: string | undefined
  return async () => {
    const reason = store.unavailableReason()
    if (reason === logged) return
    logged = reason
    if (reason === undefined) log.info('the store accepts writes again')
    else log.error({ reason }, 'the store does not accept writes; they fail with 503')
  }
}
