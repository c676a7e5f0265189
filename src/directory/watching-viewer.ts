/** What a process knows of a viewer who watches, and the minutes that the store does not have yet. */
import type { ViewerSession } from '../domain/playback.ts'
import { countSlots, listSlots, type SlotSet } from '../domain/watched-minutes.ts'
import type { WatchReport } from '../store/commands/watch-time.ts'
import type { OpenCampaign } from './open-campaigns.ts'

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

interface Progress {
  minutes: number
  claimed: readonly string[]
}

/** A viewer with a recent heartbeat. A class, so that all have the same layout in memory. */
export class WatchingViewer {
  /** The last heartbeat, and the channel and start of its session. */
  heardAt: number
  heardOn: string
  began: number
  /** Set when the viewer earns: that of the first heartbeat which counted. */
  network: string | undefined = undefined
  earns = false
  /** Whether the last heartbeat earned nothing because of its network. */
  isOverLimit = false
  /** The last slot that counted, and its channel. */
  slot = 0
  channel = ''
  pending: Pending | undefined = undefined
  /** Pending slots of other campaigns, from before the viewer changed the channel. */
  earlier: readonly Pending[] | undefined = undefined
  /** By campaign, as the store has it; undefined until it is read. */
  progress: Map<string, Progress> | undefined = undefined

  constructor({ user_id, began }: ViewerSession, now: number) {
    this.heardAt = now
    this.heardOn = user_id
    this.began = began
  }
}

export const NO_CAMPAIGNS: CampaignSet = { campaigns: [], ids: [] }

export const hasPending = ({ pending, earlier }: WatchingViewer): boolean =>
  pending !== undefined || earlier !== undefined

export const sameIds = (a: CampaignSet, b: CampaignSet): boolean =>
  a.ids.length === b.ids.length && a.ids.every((id, place) => id === b.ids[place])

export function countPending({ pending, earlier = [] }: WatchingViewer, campaign_id?: string): number {
  let count = 0
  for (const each of pending === undefined ? earlier : [pending, ...earlier])
    if (campaign_id === undefined || each.set.ids.includes(campaign_id)) count += countSlots(each.slots)
  return count
}

/** The minutes of the store, and those that it does not have yet. */
export function countMinutes(viewer: WatchingViewer, campaign_id: string): number {
  return (viewer.progress?.get(campaign_id)?.minutes ?? 0) + countPending(viewer, campaign_id)
}

/** Whether everything that could be earned is claimed. */
export function hasFinished({ progress }: WatchingViewer, { campaigns }: CampaignSet): boolean {
  if (progress === undefined) return false
  return campaigns.every(({ campaign }) => {
    const claimed = progress.get(campaign.id)?.claimed ?? []
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
