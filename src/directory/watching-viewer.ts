/** What a process knows of a viewer who watches, and the minutes that the store does not have yet. */
import { countSlots, listSlots, type SlotSet } from '../domain/watched-minutes.ts'
import type { WatchReport } from '../store/commands/watch-time.ts'
import type { OpenCampaign, OpenCampaigns } from './open-campaigns.ts'

/** Slots that the store does not have yet, and the campaigns that they count for. */
export interface Pending {
  readonly slots: SlotSet
  readonly set: CampaignSet
}

/** The campaigns of a slot. There is one object for each combination, so that viewers share it. */
export interface CampaignSet {
  readonly campaigns: readonly OpenCampaign[]
  readonly ids: readonly string[]
}

export const NO_CAMPAIGNS: CampaignSet = { campaigns: [], ids: [] }

/** Minutes in a campaign, as the store has them, and the drops that are claimed. */
export interface Progress {
  readonly campaign_id: string
  minutes: number
  claimed: readonly string[]
}

/** The minutes that the store has. Ids of open campaigns, and lists without drops, are in memory once. */
export function readProgress(row: Progress, campaigns: OpenCampaigns): Progress {
  const { campaign_id, minutes, claimed } = row
  return {
    campaign_id: campaigns.find(campaign_id)?.campaign.id ?? campaign_id,
    minutes,
    claimed: claimed.length === 0 ? NO_DROPS : claimed,
  }
}

const NO_DROPS: readonly string[] = []

/**
 * A viewer with a recent heartbeat. There may be very many: all have the same layout in memory, with plain fields in place of
 * small objects.
 */
export class WatchingViewer {
  /** The last heartbeat, and the channel and start of its session. */
  heardAt = 0
  heardOn = ''
  began = 0
  /** Set when the viewer earns: a hash of the network of the first heartbeat which counted. */
  network: number | undefined = undefined
  earns = false
  /** Whether the last heartbeat earned nothing because of its network. */
  isOverLimit = false
  /** The last slot that counted, and its channel. */
  slot = 0
  channel = ''
  /** Pending slots and their campaigns. */
  pendingSlot = 0
  pendingRecent = 0
  pendingSet: CampaignSet = NO_CAMPAIGNS
  /** Pending slots of other campaigns, from before the viewer changed the channel. */
  earlier: readonly Pending[] | undefined = undefined
  /** By campaign; undefined until it is read. */
  progress: readonly Progress[] | undefined = undefined

  get pending(): Pending | undefined {
    if (this.pendingRecent === 0) return undefined
    return { slots: { slot: this.pendingSlot, recent: this.pendingRecent }, set: this.pendingSet }
  }

  setPending({ slot, recent }: SlotSet, set: CampaignSet): void {
    this.pendingSlot = slot
    this.pendingRecent = recent
    this.pendingSet = set
  }

  /** Takes over what the store has. Of two answers at once, that of the first may come last. */
  addProgress(added: Progress): void {
    const { campaign_id, minutes, claimed } = added
    const known = this.findProgress(campaign_id)
    if (known !== undefined) {
      known.minutes = Math.max(minutes, known.minutes)
      if (claimed.length > 0) known.claimed = [...new Set([...known.claimed, ...claimed])]
    } else if (this.progress !== undefined) this.progress = [...this.progress, added]
  }

  findProgress(campaign_id: string): Progress | undefined {
    return this.progress?.find(each => each.campaign_id === campaign_id)
  }
}

export const hasPending = ({ pendingRecent, earlier }: WatchingViewer): boolean =>
  pendingRecent !== 0 || earlier !== undefined

export const sameIds = (a: CampaignSet, b: CampaignSet): boolean =>
  a.ids.length === b.ids.length && a.ids.every((id, place) => id === b.ids[place])

export function countPending(viewer: WatchingViewer, campaign_id?: string): number {
  const { pendingRecent, pendingSet, earlier } = viewer
  const concerns = ({ ids }: CampaignSet) => campaign_id === undefined || ids.includes(campaign_id)
  let count = pendingRecent !== 0 && concerns(pendingSet) ? countSlots({ slot: 0, recent: pendingRecent }) : 0
  for (const { slots, set } of earlier ?? []) if (concerns(set)) count += countSlots(slots)
  return count
}

/** The minutes of the store, and those that it does not have yet. */
export function countMinutes(viewer: WatchingViewer, campaign_id: string): number {
  return (viewer.findProgress(campaign_id)?.minutes ?? 0) + countPending(viewer, campaign_id)
}

/** Whether everything that could be earned is claimed. */
export function hasFinished(viewer: WatchingViewer, { campaigns }: CampaignSet): boolean {
  if (viewer.progress === undefined) return false
  return campaigns.every(({ campaign }) => {
    const claimed = viewer.findProgress(campaign.id)?.claimed ?? []
    return campaign.drops.every(({ id }) => claimed.includes(id))
  })
}

/** What is flushed of a viewer. */
export interface TakenMinutes {
  readonly id: string
  readonly viewer: WatchingViewer
  readonly pending: Pending | undefined
  readonly earlier: readonly Pending[] | undefined
}

export const takePending = (id: string, viewer: WatchingViewer): TakenMinutes => ({
  id,
  viewer,
  pending: viewer.pending,
  earlier: viewer.earlier,
})

export function writeReports(taken: readonly TakenMinutes[]): {
  viewers: WatchReport[]
  sets: (readonly string[])[]
} {
  const sets: (readonly string[])[] = []
  const places = new Map<string, number>()
  const placeFor = ({ ids }: CampaignSet): number => {
    const key = ids.join()
    const known = places.get(key)
    if (known !== undefined) return known
    places.set(key, sets.push(ids) - 1)
    return sets.length - 1
  }
  const viewers = taken.map(({ id, pending, earlier = [] }) => ({
    user_id: id,
    slots: (pending === undefined ? earlier : [...earlier, pending]).flatMap(each => {
      const place = placeFor(each.set)
      return listSlots(each.slots).map(slot => [slot, place] as const)
    }),
  }))
  return { viewers, sets }
}
