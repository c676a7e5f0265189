/**
 * Counting watched minutes without counting any twice.
 *
 * The problem: a viewer has several tabs and devices, a proxy sends each heartbeat to another node, nodes report late, twice
 * or in another order, and processes die between. A sum of what nodes report would count some minutes twice, or would need an
 * id for every report. The solution: time is cut into slots, the minutes of the server's clock, and a viewer has a set of
 * slots instead of a sum. A slot in which a heartbeat counted is in the set, however often it is added; what a node reports
 * is united with the set, and only slots that were not in it are credited.
 *
 *     slot     1000  1001  1002  1003            stored: { slot: 1003, recent: ...1011 }
 *     tab 1      x     x           x             bit n of `recent` is slot 1003 - n
 *     tab 2            x           x             credited: 3 minutes
 *
 * Only the newest 32 slots are kept: reports come within a few minutes, and those that come later are dropped, never
 * credited twice. Both numbers are four bytes.
 *
 * What must hold:
 * - A slot is credited once, whatever is repeated, reordered or split.
 * - A slot far ahead of the store's clock is not credited: the clock of the node that reports it is wrong.
 * - A stored slot far ahead of it was written when the store's clock was wrong. It is replaced by a full set at the store's
 *   time, so that the viewer earns again from now on, and nothing of before is credited a second time.
 */

export const SLOT_MILLISECONDS = 60_000
/** Slots in a set, up to the newest. */
export const RECENT_SLOTS = 32
/** How far a slot may be ahead of the store's clock. */
const MAX_SLOTS_AHEAD = 2
/** A session counts from this age on, so that D whole minutes give D slots, whatever second they began at (D-212). */
export const MIN_SESSION_MILLISECONDS = 60_000

/** A set of slots: the newest, and a bit for each of the 32 up to it, from the lowest, as a signed number of 32 bits. */
export interface SlotSet {
  readonly slot: number
  readonly recent: number
}

export const NO_SLOTS: SlotSet = { slot: 0, recent: 0 }
const ALL_BITS = -1

export const slotAt = (milliseconds: number): number => Math.floor(milliseconds / SLOT_MILLISECONDS)

/** The set with this slot; undefined if it has the slot already, or if the slot is too old for it. */
export function withSlot({ slot: newest, recent }: SlotSet, slot: number): SlotSet | undefined {
  const ahead = slot - newest
  if (ahead > 0) return { slot, recent: ahead < RECENT_SLOTS ? (recent << ahead) | 1 : 1 }
  if (-ahead >= RECENT_SLOTS) return undefined
  const bit = 1 << -ahead
  return (recent & bit) === 0 ? { slot: newest, recent: recent | bit } : undefined
}

/** Whether a set with this slot would have no room for its oldest ones. */
export function losesSlots({ slot: newest, recent }: SlotSet, slot: number): boolean {
  const ahead = slot - newest
  return ahead > 0 && (ahead >= RECENT_SLOTS ? recent !== 0 : recent >>> (RECENT_SLOTS - ahead) !== 0)
}

/** The slots of a set, oldest first. */
export function listSlots({ slot, recent }: SlotSet): number[] {
  const slots: number[] = []
  for (let behind = RECENT_SLOTS - 1; behind >= 0; behind--)
    if ((recent & (1 << behind)) !== 0) slots.push(slot - behind)
  return slots
}

export function countSlots({ recent }: SlotSet): number {
  let count = 0
  for (let bits = recent; bits !== 0; bits &= bits - 1) count += 1
  return count
}

/** What is left of a set without the slots of another. */
export function withoutSlots(set: SlotSet, other: SlotSet): SlotSet {
  let { recent } = set
  for (const slot of listSlots(other)) {
    const behind = set.slot - slot
    if (behind >= 0 && behind < RECENT_SLOTS) recent &= ~(1 << behind)
  }
  return recent === 0 ? NO_SLOTS : { slot: set.slot, recent }
}

/** The stored set after a report, and the slots to credit. `now` is the slot of the store's clock. */
export function uniteSlots(
  stored: SlotSet,
  reported: readonly number[],
  now: number,
): { readonly set: SlotSet; readonly credited: readonly number[] } {
  const latest = now + MAX_SLOTS_AHEAD
  let set: SlotSet = stored.slot > latest ? { slot: now, recent: ALL_BITS } : stored
  const credited: number[] = []
  for (const slot of reported.toSorted((a, b) => a - b)) {
    const next = slot > latest ? undefined : withSlot(set, slot)
    if (next === undefined) continue
    set = next
    credited.push(slot)
  }
  return { set, credited }
}

/** When minutes of a campaign count, in milliseconds. */
export interface CountingSpan {
  readonly starts: number
  readonly ends: number
  /** Between a stop and the publication that continued the campaign. */
  readonly pauses: readonly (readonly [from: number, to: number])[]
}

/** Whether minutes may have counted in a slot: if some of it is in the span, and not all of it in a pause (D-214). */
export function mayCount(slot: number, { starts, ends, pauses }: CountingSpan): boolean {
  const from = slot * SLOT_MILLISECONDS
  const to = from + SLOT_MILLISECONDS
  return from < ends && to > starts && !pauses.some(pause => pause[0] <= from && to <= pause[1])
}
