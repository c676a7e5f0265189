/** What a process knows of a viewer who watches, and the minutes that the store does not have yet. */
import { countSlots, listSlots, type SlotSet, withoutSlots } from '../../domain/watched-minutes.ts'
import type { WatchReport } from '../../store/commands/watch-time.ts'
import type { OpenCampaign } from './open-campaigns.ts'

/** The campaigns of a slot. There is one object for each combination, so that viewers share it. */
export interface CampaignSet {
  readonly campaigns: readonly OpenCampaign[]
  readonly ids: readonly string[]
  /** The ids in one text. */
  readonly key: string
}

export const NO_CAMPAIGNS: CampaignSet = { campaigns: [], ids: [], key: '' }

/** Slots that the store does not have yet, and the campaigns that they count for. */
export interface Pending {
  readonly slots: SlotSet
  readonly set: CampaignSet
}

/** Minutes in a campaign, as the store has them, and the drops that are claimed. */
export interface Progress {
  readonly campaign_id: string
  readonly minutes: number
  readonly claimed: readonly string[]
}

/**
 * A viewer with a recent heartbeat. There may be very many: each has few fields, and shares its lists with all who have the
 * same (`SharedLists`).
 */
export class WatchingViewer {
  /** The last heartbeat, and the channel and start of its session. */
  heardAt = 0
  heardOn = ''
  began = 0
  /** Set by the first heartbeat that counted or was over the limit: see `EarningNetworks`. */
  network: number | undefined = undefined
  /** The last slot that counted, and its channel. */
  slot = 0
  channel = ''
  /** The last is that of the newest slots. Those before it are of other campaigns. */
  pending: readonly Pending[] = NOTHING
  /** By campaign; undefined until it is read. */
  progress: readonly Progress[] | undefined = undefined
}

const NOTHING: readonly never[] = []

/** One list for each content, which viewers share: very many have the same minutes. */
export class SharedLists {
  #pending = new Map<string, readonly Pending[]>()
  #progress = new Map<string, readonly Progress[]>()

  pending(list: readonly Pending[]): readonly Pending[] {
    if (list.length === 0) return NOTHING
    const key = list.map(({ slots, set }) => `${slots.slot} ${slots.recent} ${set.key}`).join()
    return known(this.#pending, key, list)
  }

  progress(list: readonly Progress[]): readonly Progress[] {
    const key = list
      .map(({ campaign_id, minutes, claimed }) => [campaign_id, minutes, ...claimed].join(' '))
      .join()
    return known(this.#progress, key, list)
  }

  /** Forgets what viewers may not have any more. They keep what they have. */
  clear(): void {
    this.#pending = new Map()
    this.#progress = new Map()
  }
}

function known<T>(lists: Map<string, T>, key: string, list: T): T {
  const earlier = lists.get(key)
  if (earlier === undefined) lists.set(key, list)
  return earlier ?? list
}

export const hasPending = ({ pending }: WatchingViewer): boolean => pending.length > 0

export function countPending({ pending }: WatchingViewer, campaign_id?: string): number {
  let count = 0
  for (const { slots, set } of pending)
    if (campaign_id === undefined || set.ids.includes(campaign_id)) count += countSlots(slots)
  return count
}

/** What is pending after the store has all of an earlier list. Meanwhile slots may have been added, also of other campaigns. */
export function withoutWritten(pending: readonly Pending[], written: readonly Pending[]): readonly Pending[] {
  if (pending === written) return NOTHING
  return pending.flatMap(({ slots, set }) => {
    const left = written.reduce((rest, each) => withoutSlots(rest, each.slots), slots)
    return left.recent === 0 ? [] : [{ slots: left, set }]
  })
}

export function findProgress(
  progress: readonly Progress[] | undefined,
  campaign_id: string,
): Progress | undefined {
  return progress?.find(each => each.campaign_id === campaign_id)
}

/** With what the store has now. Of two answers at once, that of the first may come last. */
export function withProgress(progress: readonly Progress[], added: Progress): readonly Progress[] {
  const { campaign_id } = added
  const before = findProgress(progress, campaign_id)
  if (before === undefined) return [...progress, added]
  const minutes = Math.max(before.minutes, added.minutes)
  const claimed = [...new Set([...before.claimed, ...added.claimed])]
  return progress.map(each => (each === before ? { campaign_id, minutes, claimed } : each))
}

/** The minutes of the store, and those that it does not have yet. */
export function countMinutes(viewer: WatchingViewer, campaign_id: string): number {
  return (findProgress(viewer.progress, campaign_id)?.minutes ?? 0) + countPending(viewer, campaign_id)
}

/** Whether everything that could be earned is claimed. */
export function hasFinished({ progress }: WatchingViewer, { campaigns }: CampaignSet): boolean {
  if (progress === undefined) return false
  return campaigns.every(({ campaign }) => {
    const claimed = findProgress(progress, campaign.id)?.claimed ?? []
    return campaign.drops.every(({ id }) => claimed.includes(id))
  })
}

/** What is flushed of a viewer. */
export interface TakenMinutes {
  readonly id: string
  readonly viewer: WatchingViewer
  readonly pending: readonly Pending[]
}

export function writeReports(taken: readonly TakenMinutes[]): {
  viewers: WatchReport[]
  sets: (readonly string[])[]
} {
  const sets: (readonly string[])[] = []
  const places = new Map<string, number>()
  const placeFor = ({ ids, key }: CampaignSet): number => {
    const place = places.get(key) ?? sets.push(ids) - 1
    places.set(key, place)
    return place
  }
  const viewers = taken.map(({ id, pending }) => ({
    user_id: id,
    slots: pending.flatMap(({ slots, set }) => {
      const place = placeFor(set)
      return listSlots(slots).map(slot => [slot, place] as const)
    }),
  }))
  return { viewers, sets }
}
