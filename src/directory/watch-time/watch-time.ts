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
 * `watch-time-flusher.ts` writes them, `earning-networks.ts` limits viewers by network.
 *
 * What must hold:
 * - While the store is away, heartbeats are answered and slots wait; a set has room for half an hour.
 * - A slot counts on one channel: the first whose heartbeat counted in it.
 */
import type { HeartbeatReason } from '../../contract/playback/send-heartbeat.ts'
import { isRecent, type ViewerSession } from '../../domain/playback.ts'
import {
  losesSlots,
  MIN_SESSION_MILLISECONDS,
  NO_SLOTS,
  RECENT_SLOTS,
  slotAt,
  withSlot,
} from '../../domain/watched-minutes.ts'
import type { Metrics } from '../../kit/telemetry/metrics.ts'
import type { Clock } from '../../kit/time/clock.ts'
import type { Store } from '../../store/store.ts'
import { EarningNetworks, isOverLimit } from './earning-networks.ts'
import { admits, isActive, type OpenCampaign, type OpenCampaigns } from './open-campaigns.ts'
import { WatchTimeFlusher } from './watch-time-flusher.ts'
import {
  type CampaignSet,
  countMinutes,
  countPending,
  findProgress,
  hasFinished,
  hasPending,
  NO_CAMPAIGNS,
  SharedLists,
  WatchingViewer,
  withProgress,
} from './watching-viewer.ts'

/** From this number on, a fifth of the viewers is flushed each minute. */
const MANY_VIEWERS = 20_000
const PARTS = 5
const MAX_VIEWERS = 1_000_000
/** Slots wait for the store for as long as a set of them has room. */
const WAITING_MILLISECONDS = 30 * 60_000

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
  readonly #networks: EarningNetworks
  readonly #flusher: WatchTimeFlusher
  readonly #shared = new SharedLists()
  /** One object for each combination of campaigns, and one text for each channel, which viewers share. */
  #sets = new Map<string, CampaignSet>()
  #channels = new Map<string, string>()
  #lastMinute: number
  #claims = 0

  constructor(options: WatchTimeOptions) {
    this.#options = options
    this.#networks = new EarningNetworks(options.mostPerNetwork)
    this.#flusher = new WatchTimeFlusher({ ...options, viewers: this.#viewers, shared: this.#shared })
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
    const viewer = known ?? new WatchingViewer()
    viewer.heardAt = now
    viewer.began = session.began
    if (viewer.heardOn !== session.user_id) viewer.heardOn = this.#sharedText(session.user_id)
    if (known === undefined && this.#viewers.size < MAX_VIEWERS) this.#viewers.set(session.viewer, viewer)
    return viewer
  }

  #sharedText(channel_id: string): string {
    const known = this.#channels.get(channel_id)
    if (known === undefined) this.#channels.set(channel_id, channel_id)
    return known ?? channel_id
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
    // One who is not kept, because there are too many, could not be released.
    const isKept = this.#viewers.get(session.viewer) === viewer
    return isKept && this.#networks.admit(viewer, address) ? { set } : { set, reason: 'network_limit' }
  }

  #setFor(admitted: readonly OpenCampaign[]): CampaignSet {
    const ids = admitted.map(({ campaign }) => campaign.id)
    const key = ids.join()
    const known = this.#sets.get(key)
    if (known?.campaigns.every((each, place) => each === admitted[place])) return known
    const set = { campaigns: admitted, ids, key }
    this.#sets.set(key, set)
    return set
  }

  #count(session: ViewerSession, viewer: WatchingViewer, set: CampaignSet, now: number): void {
    const slot = slotAt(now)
    if (slot === viewer.slot) return
    const before = viewer.pending.at(-1)
    // Slots of other campaigns, or far from these because a clock was moved, are pending separately. A clock that is moved by
    // days fills several sets before they are flushed.
    const continues =
      before !== undefined &&
      before.set.key === set.key &&
      Math.abs(slot - before.slots.slot) < RECENT_SLOTS &&
      !(this.#options.hasOwnClock && losesSlots(before.slots, slot))
    const slots = continues ? before.slots : NO_SLOTS
    const latest = { slots: withSlot(slots, slot) ?? slots, set }
    const earlier = continues ? viewer.pending.slice(0, -1) : viewer.pending
    viewer.pending = this.#shared.pending([...earlier, latest])
    viewer.slot = slot
    viewer.channel = viewer.heardOn
    // What fails is flushed with the minute.
    if (this.#reachesDrop(viewer, set)) void this.#flusher.flush(session.viewer).catch(() => undefined)
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
      viewer.progress ??= this.#shared.progress(rows)
    } catch {
      // The store is away: the answer has no progress, and the next heartbeat tries again.
    }
  }

  #answer(viewer: WatchingViewer, { set, reason }: Decision): WatchAnswer {
    const isKnown = viewer.progress !== undefined
    const data = (isKnown ? set.campaigns : []).map(({ campaign }) => {
      const minutes = countMinutes(viewer, campaign.id)
      const claimed = findProgress(viewer.progress, campaign.id)?.claimed ?? []
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
    await this.#flusher.flushAll(due)
    this.#forgetStopped(now)
    if (!isNewMinute) return
    this.#shared.clear()
    ;[this.#sets, this.#channels] = [new Map(), new Map()]
  }

  /** Flushes everything, at the end of the process. */
  async close(): Promise<void> {
    const ids = [...this.#viewers].flatMap(([id, viewer]) => (hasPending(viewer) ? [id] : []))
    await this.#flusher.flushAll(ids)
  }

  /** Forgets all viewers and what is not written: a demo has another world. */
  clear(): void {
    this.#viewers.clear()
    this.#networks.clear()
    this.#sets.clear()
  }

  /** Flushes one viewer, before the store is asked about that viewer. */
  flushViewer(id: string): Promise<void> {
    return this.#flusher.flush(id)
  }

  #forgetStopped(now: number): void {
    for (const [id, viewer] of this.#viewers) {
      if (isRecent(viewer.heardAt, now)) continue
      if (hasPending(viewer) && Math.abs(now - viewer.heardAt) < WAITING_MILLISECONDS) continue
      this.#viewers.delete(id)
      this.#networks.release(viewer)
    }
  }

  /** Takes note of a claim, so that answers do not offer the drop again. */
  noteClaim(user_id: string, { campaign_id, drop_id }: { campaign_id: string; drop_id: string }): void {
    this.#claims += 1
    const viewer = this.#viewers.get(user_id)
    const known = findProgress(viewer?.progress, campaign_id)
    if (viewer?.progress === undefined || known === undefined) return
    viewer.progress = this.#shared.progress(withProgress(viewer.progress, { ...known, claimed: [drop_id] }))
  }

  /** What this process has heard of a viewer lately. */
  findViewer(user_id: string): HeardViewer | undefined {
    const viewer = this.#viewers.get(user_id)
    const now = this.#options.clock.now()
    if (viewer === undefined || !isRecent(viewer.heardAt, now)) return undefined
    const { heardOn, began } = viewer
    return { heardOn, isOverLimit: isOverLimit(viewer), ageMilliseconds: now - began }
  }

  measure(metrics: Metrics): void {
    let unflushed = 0
    for (const viewer of this.#viewers.values()) unflushed += countPending(viewer)
    metrics.gauge(
      'strand_watching_viewers',
      'Viewers with a recent heartbeat that names them.',
      this.#viewers.size,
    )
    metrics.gauge(
      'strand_unflushed_watch_seconds',
      'Time watched that the store does not have yet.',
      unflushed * 60,
    )
    this.#flusher.measure(metrics)
    metrics.counter('strand_drop_claims_total', 'Claims of drops.', [
      [{ source: 'viewer' }, this.#claims],
      [{ source: 'auto' }, this.#flusher.autoClaims],
    ])
  }
}

const refused = (reason: HeartbeatReason): Decision => ({ set: NO_CAMPAIGNS, reason })
