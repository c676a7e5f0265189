import type { HeartbeatReason } from '../../contract/playback/send-heartbeat.ts'
import type { WatchTime } from '../../directory/watch-time/watch-time.ts'
import { HEARTBEAT_SECONDS, type ViewerSession } from '../../domain/playback.ts'
import { uuid } from '../../kit/id.ts'
import type { Clock } from '../../kit/time/clock.ts'
import type { TimedWork } from './demo-timeline.ts'

const HEARTBEAT_MILLISECONDS = HEARTBEAT_SECONDS * 1000
/** How often minutes are written while time is played: seldom, because that takes most of the time. */
const FLUSH_MILLISECONDS = 6 * 3_600_000

/** A viewer who is to watch a channel. */
export interface WatchingPlan {
  readonly user_id: string
  readonly channel_id: string
  /** Undefined: until stopped. */
  readonly for_seconds?: number | undefined
}

/** A simulated viewer as listed, with times in milliseconds. */
export interface WatchingViewer {
  readonly user_id: string
  readonly channel_id: string
  readonly since: number
  readonly until: number | undefined
  readonly reason: HeartbeatReason | undefined
}

/** A simulated viewer of a demo. */
interface SimulatedViewer {
  readonly session: ViewerSession
  /** The last time at which it may send a heartbeat. */
  until: number
  /** When it sends the next heartbeat. */
  next: number
  /** Why the last heartbeat earned nothing. */
  reason: HeartbeatReason | undefined
  /** The drops that the last answer offered. */
  claimable: string
}

/**
 * Viewers of a demo that watch without a player: they send a heartbeat when they begin and every 30 s, from no network, and
 * count for drops, not as viewers of the stream.
 *
 * The map is a queue. All send at the same interval, so the one that has just sent is the last to send again: the first
 * is always the next.
 */
export class SimulatedViewers implements TimedWork {
  readonly #clock: Clock
  #watchTime: WatchTime | undefined
  #viewers = new Map<string, SimulatedViewer>()
  #flushedAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Sends heartbeats here. */
  useWatchTime(watchTime: WatchTime): void {
    this.#watchTime ??= watchTime
  }

  get size(): number {
    return this.#viewers.size
  }

  nextAt(): number | undefined {
    for (const { next } of this.#viewers.values()) return next
    return undefined
  }

  async run(): Promise<void> {
    const now = this.#clock.now()
    const due: SimulatedViewer[] = []
    for (const viewer of this.#viewers.values()) {
      if (viewer.next > now) break
      due.push(viewer)
    }
    // At once: the first heartbeat of each reads the store.
    await Promise.all(due.map(viewer => this.#beat(viewer, now)))
    if (Math.abs(now - this.#flushedAt) >= FLUSH_MILLISECONDS) await this.settle()
  }

  /** Writes what was watched. */
  async settle(): Promise<void> {
    this.#flushedAt = this.#clock.now()
    // While the store is away minutes wait.
    await this.#watchTime?.close().catch(() => undefined)
  }

  /** Forgets everyone who watches, real viewers too, and starts with these: the world is another. */
  restart(plans: readonly WatchingPlan[]): void {
    this.#watchTime?.clear()
    const now = this.#clock.now()
    this.#viewers = new Map(plans.map(plan => [plan.user_id, startViewer(plan, now)]))
    this.#flushedAt = now
  }

  /** Who watches now, and the function that returns to it. */
  save(): () => void {
    const saved = [...this.#viewers].map(([id, viewer]) => [id, { ...viewer }] as const)
    return () => {
      this.restart([])
      this.#viewers = new Map(saved.map(([id, viewer]) => [id, { ...viewer }]))
    }
  }

  /** Lets a viewer watch a channel, in place of another one. A viewer who watches it already continues. */
  async watch(plan: WatchingPlan): Promise<WatchingViewer> {
    const now = this.#clock.now()
    const known = this.#viewers.get(plan.user_id)
    if (known?.session.user_id === plan.channel_id) {
      known.until = endTime(plan, now)
      return describeViewer(known)
    }
    const viewer = startViewer(plan, now)
    this.#viewers.delete(plan.user_id)
    this.#viewers.set(plan.user_id, viewer)
    await this.#beat(viewer, now)
    return describeViewer(viewer)
  }

  async stop(user_id: string): Promise<void> {
    this.#viewers.delete(user_id)
    await this.#watchTime?.flushViewer(user_id)
  }

  list(): WatchingViewer[] {
    return [...this.#viewers.values()].map(describeViewer)
  }

  /** How many heartbeats are sent up to this time. */
  countHeartbeats(time: number): number {
    let count = 0
    for (const { next, until } of this.#viewers.values()) {
      const last = Math.min(time, until)
      if (next <= last) count += Math.floor((last - next) / HEARTBEAT_MILLISECONDS) + 1
    }
    return count
  }

  async #beat(viewer: SimulatedViewer, now: number): Promise<void> {
    const { session } = viewer
    const id = session.viewer
    // Late ones are not made up for: nothing was heard in that time.
    viewer.next = Math.max(viewer.next + HEARTBEAT_MILLISECONDS, now)
    this.#viewers.delete(id)
    if (viewer.next <= viewer.until) this.#viewers.set(id, viewer)
    const answer = await this.#watchTime?.beat(session, undefined)
    viewer.reason = answer?.reason
    const claimable = (answer?.data ?? []).flatMap(each => each.claimable).join()
    const hasReached = claimable !== viewer.claimable
    viewer.claimable = claimable
    // A drop is reached, and claimed where the campaign does that, at this time of the clock. Others are flushed together.
    if (hasReached || !this.#viewers.has(id)) await this.#watchTime?.flushViewer(id).catch(() => undefined)
  }
}

const describeViewer = ({ session, until, reason }: SimulatedViewer): WatchingViewer => ({
  user_id: session.viewer,
  channel_id: session.user_id,
  since: session.began,
  until: Number.isFinite(until) ? until : undefined,
  reason,
})

const endTime = ({ for_seconds }: WatchingPlan, now: number): number =>
  for_seconds === undefined ? Number.POSITIVE_INFINITY : now + for_seconds * 1000

function startViewer(plan: WatchingPlan, now: number): SimulatedViewer {
  const { user_id: viewer, channel_id } = plan
  return {
    session: { id: uuid(), user_id: channel_id, watches: 'live', began: now, viewer },
    until: endTime(plan, now),
    next: now,
    reason: undefined,
    claimable: '',
  }
}
