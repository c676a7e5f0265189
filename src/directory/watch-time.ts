/**
 * The viewers of this process who earn drops (D-210 to D-215).
 *
 * Heartbeats are answered from memory: whether one counts follows from the directory, the open campaigns and the session. What
 * counted is a set of slots for each viewer (`domain/watched-minutes.ts`), which the store gets later:
 *
 *     heartbeat --> counts? --yes--> pending slots --flush--> flushWatchTime --> minutes of the store --> answers
 *
 * | When | Who is flushed |
 * |---|---|
 * | a minute has begun | viewers with pending slots; from 20,000 viewers on a fifth of them |
 * | a viewer has the minutes of a drop, or claims one | that viewer |
 * | a viewer has stopped | that viewer, who is then forgotten |
 * | the process ends | all |
 *
 * What must hold:
 * - Pending slots are removed only when the store has them. A flush may be repeated: it is a union.
 * - While the store is away, heartbeats are answered and slots wait; a set has room for half an hour.
 * - A slot counts on one channel: the first whose heartbeat counted in it.
 */
import type { HeartbeatReason } from '../contract/playback/send-heartbeat.ts'
import { isRecent, type ViewerSession } from '../domain/playback.ts'
import {
  losesSlots,
  MIN_SESSION_MILLISECONDS,
  NO_SLOTS,
  RECENT_SLOTS,
  slotAt,
  withoutSlots,
  withSlot,
} from '../domain/watched-minutes.ts'
import { toNetwork } from '../kit/network.ts'
import { Histogram } from '../kit/telemetry/histogram.ts'
import type { Metrics } from '../kit/telemetry/metrics.ts'
import { type Clock, isoMillis } from '../kit/time/clock.ts'
import type { WatchedProgress } from '../store/commands/watch-time.ts'
import type { Store } from '../store/store.ts'
import { admits, isActive, type OpenCampaign, type OpenCampaigns } from './open-campaigns.ts'
import {
  type CampaignSet,
  countMinutes,
  countPending,
  hasFinished,
  hasPending,
  NO_CAMPAIGNS,
  sameIds,
  type TakenMinutes,
  takePending,
  WatchingViewer,
  writeReports,
} from './watching-viewer.ts'

const BATCH_SIZE = 500
/** From this number on, a fifth of the viewers is flushed each minute. */
const MANY_VIEWERS = 20_000
const PARTS = 5
const MAX_VIEWERS = 1_000_000
const FLUSH_SECONDS = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 3] as const

/** Progress of a viewer, in a heartbeat's answer. */
export interface WatchAnswer {
  readonly data: { campaign_id: string; minutes: number; claimable: string[] }[]
  readonly reason?: HeartbeatReason
}

interface WatchTimeOptions {
  readonly store: Store
  readonly clock: Clock
  readonly campaigns: OpenCampaigns
  /** The game that a channel plays: undefined if it is offline, empty if it has none. */
  readonly findGame: (channel_id: string) => string | undefined
  /** Viewers of one network who earn at a time. */
  readonly mostPerNetwork: number
  /** Whether the clock can be moved, so that it has nothing to do with the clock of the store. */
  readonly hasOwnClock: boolean
}

interface HeardViewer {
  /** The channel of the last heartbeat. */
  readonly heardOn: string
  readonly isOverLimit: boolean
  /** The age of its session. */
  readonly ageMilliseconds: number
}

type Decision = { readonly set: CampaignSet; readonly reason?: HeartbeatReason }

export class WatchTime {
  readonly #options: WatchTimeOptions
  readonly #viewers = new Map<string, WatchingViewer>()
  /** Viewers who earn, by the hash of their network: two networks with one hash share their limit. */
  readonly #networks = new Map<number, number>()
  #sets = new Map<string, CampaignSet>()
  /** Viewers to flush at once, and the flush that takes them. */
  readonly #urgent = new Set<string>()
  #flushingUrgent: Promise<void> | undefined
  #lastMinute: number
  readonly #flushTimes = new Histogram(FLUSH_SECONDS)
  readonly #claims = { viewer: 0, auto: 0 }
  #minutes = 0
  #failures = 0

  constructor(options: WatchTimeOptions) {
    this.#options = options
    this.#lastMinute = slotAt(options.clock.now())
  }

  /** Takes note of a heartbeat, and returns what its viewer has. Simulated viewers have no address. */
  async beat(session: ViewerSession, address: string | undefined): Promise<WatchAnswer> {
    const now = this.#options.clock.now()
    const viewer = this.#hear(session, now)
    const decision = this.#decide(viewer, session, address, now)
    if (decision.reason === undefined) this.#count(session, viewer, decision.set, now)
    if (viewer.progress === undefined && decision.set.ids.length > 0)
      await this.#readProgress(session.viewer, viewer)
    return this.#answer(viewer, decision)
  }

  #hear(session: ViewerSession, now: number): WatchingViewer {
    const known = this.#viewers.get(session.viewer)
    if (known === undefined) {
      const viewer = new WatchingViewer(session, now)
      if (this.#viewers.size < MAX_VIEWERS) this.#viewers.set(session.viewer, viewer)
      return viewer
    }
    known.heardAt = now
    known.heardOn = session.user_id
    known.began = session.began
    return known
  }

  /** Whether a heartbeat counts, and for what (D-211); the reason if it does not. */
  #decide(
    viewer: WatchingViewer,
    session: ViewerSession,
    address: string | undefined,
    now: number,
  ): Decision {
    const { campaigns, findGame } = this.#options
    const channel = session.user_id
    const game_id = findGame(channel)
    if (game_id === undefined) return refused('offline')
    if (channel === session.viewer) return refused('own_channel')
    const active = campaigns.forGame(game_id).filter(each => isActive(each, now))
    const admitted = active.filter(each => admits(each, channel))
    if (admitted.length === 0) {
      if (active.length > 0) return refused('channel_not_listed')
      return refused(campaigns.lists(channel, now) ? 'not_playing_the_game' : 'no_campaign')
    }
    const set = this.#setFor(admitted)
    if (hasFinished(viewer, set)) return { set, reason: 'finished' }
    if (now - session.began < MIN_SESSION_MILLISECONDS) return { set, reason: 'too_early' }
    if (slotAt(now) === viewer.slot && viewer.channel !== channel)
      return { set, reason: 'counts_on_another_channel' }
    viewer.isOverLimit = !this.#admitsNetwork(session.viewer, viewer, address)
    return viewer.isOverLimit ? { set, reason: 'network_limit' } : { set }
  }

  #setFor(admitted: readonly OpenCampaign[]): CampaignSet {
    const ids = admitted.map(({ campaign }) => campaign.id)
    const key = ids.join()
    const known = this.#sets.get(key)
    if (known?.campaigns.every((each, place) => each === admitted[place])) return known
    const set = { campaigns: admitted, ids }
    this.#sets.set(key, set)
    return set
  }

  /** Of one network, only so many earn at a time (D-235). The network of the first heartbeat counts. */
  #admitsNetwork(id: string, viewer: WatchingViewer, address: string | undefined): boolean {
    if (viewer.earns) return true
    if (this.#viewers.get(id) !== viewer) return false
    if (address !== undefined) {
      const network = Bun.hash.crc32(toNetwork(address))
      const count = this.#networks.get(network) ?? 0
      if (count >= this.#options.mostPerNetwork) return false
      this.#networks.set(network, count + 1)
      viewer.network = network
    }
    viewer.earns = true
    return true
  }

  #count(session: ViewerSession, viewer: WatchingViewer, set: CampaignSet, now: number): void {
    const slot = slotAt(now)
    if (slot === viewer.slot) return
    const before = viewer.pending
    // Slots of other campaigns, or far from these because a clock was moved, are pending separately. A clock that is moved by
    // days fills several sets before they are flushed.
    const continues =
      before !== undefined &&
      (before.set === set || sameIds(before.set, set)) &&
      Math.abs(slot - before.slots.slot) < RECENT_SLOTS &&
      !(this.#options.hasOwnClock && losesSlots(before.slots, slot))
    if (before !== undefined && !continues) viewer.earlier = [...(viewer.earlier ?? []), before]
    const slots = continues ? before.slots : NO_SLOTS
    viewer.setPending(withSlot(slots, slot) ?? slots, set)
    viewer.slot = slot
    viewer.channel = session.user_id
    if (this.#reachesDrop(viewer, set)) this.#flushSoon(session.viewer)
  }

  /** Whether the viewer has exactly the minutes of a drop that is not claimed. */
  #reachesDrop(viewer: WatchingViewer, { campaigns }: CampaignSet): boolean {
    if (viewer.progress === undefined) return false
    return campaigns.some(({ campaign }) => {
      const minutes = countMinutes(viewer, campaign.id)
      return campaign.drops.some(({ required_minutes }) => required_minutes === minutes)
    })
  }

  async #readProgress(id: string, viewer: WatchingViewer): Promise<void> {
    try {
      const rows = await this.#options.store.dropProgress.ofViewer(id)
      // The ids of open campaigns are in memory once, and viewers share them.
      viewer.progress ??= rows.map(({ campaign_id, minutes, claimed }) => ({
        campaign_id: this.#options.campaigns.find(campaign_id)?.campaign.id ?? campaign_id,
        minutes,
        claimed: claimed.length === 0 ? NOTHING : claimed,
      }))
    } catch {
      // The store is away: the answer has no progress, and the next heartbeat tries again.
    }
  }

  #answer(viewer: WatchingViewer, { set, reason }: Decision): WatchAnswer {
    const isKnown = viewer.progress !== undefined
    const data = (isKnown ? set.campaigns : []).map(({ campaign }) => {
      const minutes = countMinutes(viewer, campaign.id)
      const claimed = viewer.findProgress(campaign.id)?.claimed ?? []
      const claimable = campaign.drops
        .filter(({ id, required_minutes }) => required_minutes <= minutes && !claimed.includes(id))
        .map(({ id }) => id)
      return { campaign_id: campaign.id, minutes, claimable }
    })
    return reason === undefined ? { data } : { data, reason }
  }

  /** Flushes whom it is time for. Called every few seconds. */
  async flush(): Promise<void> {
    const now = this.#options.clock.now()
    const minute = slotAt(now)
    const isNewMinute = minute !== this.#lastMinute
    this.#lastMinute = minute
    const isMany = this.#viewers.size >= MANY_VIEWERS
    const due: string[] = []
    for (const [id, viewer] of this.#viewers) {
      const hasStopped = !isRecent(viewer.heardAt, now)
      const isInTurn = isNewMinute && (!isMany || Bun.hash.crc32(id) % PARTS === minute % PARTS)
      if (hasPending(viewer) && (hasStopped || isInTurn)) due.push(id)
    }
    await this.#flushAll(due)
    this.#forgetStopped(now)
    if (isNewMinute) this.#sets = new Map()
  }

  /** Flushes everything, at the end of the process. */
  async close(): Promise<void> {
    await this.#flushAll([...this.#viewers].flatMap(([id, viewer]) => (hasPending(viewer) ? [id] : [])))
  }

  /** Forgets all viewers and what is not written: a demo has another world. */
  clear(): void {
    this.#viewers.clear()
    this.#networks.clear()
    this.#urgent.clear()
    this.#sets.clear()
  }

  /** Flushes one viewer, before the store is asked about that viewer. */
  async flushViewer(id: string): Promise<void> {
    const viewer = this.#viewers.get(id)
    if (viewer !== undefined && hasPending(viewer)) await this.#flushBatch([id])
  }

  /** Flushes soon, together with others who are urgent. */
  #flushSoon(id: string): void {
    this.#urgent.add(id)
    this.#flushingUrgent ??= this.#flushUrgent().finally(() => {
      this.#flushingUrgent = undefined
    })
  }

  async #flushUrgent(): Promise<void> {
    // Those that come meanwhile are flushed together. What fails is flushed with the minute.
    await undefined
    while (this.#urgent.size > 0) {
      const ids = [...this.#urgent].slice(0, BATCH_SIZE)
      for (const id of ids) this.#urgent.delete(id)
      await this.#flushBatch(ids).catch(() => undefined)
    }
  }

  async #flushAll(ids: string[]): Promise<void> {
    ids.sort()
    for (let from = 0; from < ids.length; from += BATCH_SIZE)
      await this.#flushBatch(ids.slice(from, from + BATCH_SIZE))
  }

  async #flushBatch(ids: readonly string[]): Promise<void> {
    const { store, clock, hasOwnClock } = this.#options
    const now = clock.now()
    const taken = ids.flatMap(id => {
      const viewer = this.#viewers.get(id)
      return viewer !== undefined && hasPending(viewer) ? [takePending(id, viewer)] : []
    })
    if (taken.length === 0) return
    const began = performance.now()
    const author = { actor: 'strand', operation: 'ClaimDrop', chain: 'user', at: isoMillis(now) }
    try {
      const progress = await store.as(author).commands.flushWatchTime({
        ...writeReports(taken),
        now,
        ownClock: hasOwnClock,
      })
      this.#settle(taken, progress)
    } catch (error) {
      this.#failures += 1
      throw error
    }
    this.#flushTimes.note((performance.now() - began) / 1000)
  }

  /** Removes what the store has from the pending slots, and takes over its minutes. */
  #settle(taken: readonly TakenMinutes[], results: readonly WatchedProgress[]): void {
    for (const { viewer, pending, earlier } of taken) {
      if (pending !== undefined && viewer.pending !== undefined)
        viewer.setPending(withoutSlots(viewer.pending.slots, pending.slots), viewer.pendingSet)
      // What was pending may have become earlier meanwhile.
      const waiting = (viewer.earlier ?? []).flatMap(each => {
        if (earlier?.includes(each)) return []
        const slots = pending === undefined ? each.slots : withoutSlots(each.slots, pending.slots)
        return slots.recent === 0 ? [] : [{ ...each, slots }]
      })
      viewer.earlier = waiting.length > 0 ? waiting : undefined
    }
    for (const { user_id, campaign_id, minutes, added, claimed } of results) {
      this.#minutes += added
      this.#claims.auto += claimed.length
      const viewer = this.#viewers.get(user_id)
      const known = viewer?.findProgress(campaign_id)
      if (known === undefined) viewer?.progress?.push({ campaign_id, minutes, claimed })
      else {
        // Of two flushes at once, the answer of the first may come last.
        known.minutes = Math.max(minutes, known.minutes)
        if (claimed.length > 0) known.claimed = [...new Set([...known.claimed, ...claimed])]
      }
    }
  }

  #forgetStopped(now: number): void {
    for (const [id, viewer] of this.#viewers) {
      if (isRecent(viewer.heardAt, now)) continue
      if (hasPending(viewer) && Math.abs(now - viewer.heardAt) < WAITING_MILLISECONDS) continue
      this.#viewers.delete(id)
      if (viewer.network === undefined) continue
      const count = (this.#networks.get(viewer.network) ?? 1) - 1
      if (count > 0) this.#networks.set(viewer.network, count)
      else this.#networks.delete(viewer.network)
    }
  }

  /** Takes note of a claim, so that answers do not offer the drop again. */
  noteClaim(user_id: string, { campaign_id, drop_id }: { campaign_id: string; drop_id: string }): void {
    this.#claims.viewer += 1
    const known = this.#viewers.get(user_id)?.findProgress(campaign_id)
    if (known !== undefined && !known.claimed.includes(drop_id)) known.claimed = [...known.claimed, drop_id]
  }

  /** What this process has heard of a viewer lately. */
  findViewer(user_id: string): HeardViewer | undefined {
    const viewer = this.#viewers.get(user_id)
    const now = this.#options.clock.now()
    if (viewer === undefined || !isRecent(viewer.heardAt, now)) return undefined
    const { heardOn, isOverLimit, began } = viewer
    return { heardOn, isOverLimit, ageMilliseconds: now - began }
  }

  measure(metrics: Metrics): void {
    let unflushed = 0
    for (const viewer of this.#viewers.values()) unflushed += countPending(viewer)
    metrics.gauge(
      'strand_watching_viewers',
      'Viewers with a recent heartbeat that names them.',
      this.#viewers.size,
    )
    metrics.gauge('strand_unflushed_minutes', 'Watched minutes that the store does not have yet.', unflushed)
    metrics.counter(
      'strand_watched_minutes_total',
      'Watched minutes that were credited, in each campaign.',
      this.#minutes,
    )
    metrics.histogram(
      'strand_watch_flush_seconds',
      'Duration of a batch of watched minutes.',
      this.#flushTimes,
    )
    metrics.counter(
      'strand_watch_flush_failures_total',
      'Batches of watched minutes that failed.',
      this.#failures,
    )
    metrics.counter(
      'strand_drop_claims_total',
      'Claims of drops.',
      Object.entries(this.#claims).map(([source, count]) => [{ source }, count] as const),
    )
  }
}

const NOTHING: readonly string[] = []

/** Slots wait for the store for as long as a set of them has room. */
const WAITING_MILLISECONDS = 30 * 60_000

const refused = (reason: HeartbeatReason): Decision => ({ set: NO_CAMPAIGNS, reason })
