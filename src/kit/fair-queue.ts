import { Recent } from './recent.ts'

/** Where an item waits: a member of a group, such as an address of a network. */
export interface QueuePlace {
  readonly group: string
  readonly member: string
}

export interface QueueLimits {
  readonly perMember: number
  readonly perGroup: number
  readonly total: number
}

/** `displaced` left the queue to make room for the item that was added. */
export type Added<Item> =
  | { readonly outcome: 'added'; readonly displaced?: Item }
  | { readonly outcome: 'full' }

interface Group<Item> {
  readonly name: string
  readonly members: Map<string, Item[]>
  size: number
}

/** How many groups and members keep their place in the order after their last item has left. */
const REMEMBERED = 20_000

/**
 * A queue that many share and none can fill for the others. Next is the group that had a turn longest ago, in it the
 * member that had a turn longest ago, and of that member the item that waits longest. Those who always have something
 * waiting therefore take turns, however much it is, and one that had no turn lately goes first. To leave the queue is a
 * turn as well: those who give up and come back over and over are not ahead of one who comes for the first time.
 *
 * Memory is bounded. A member or a group over its limit is refused. When the whole queue is full, the group with the most
 * items gives up its newest one for a newcomer from elsewhere.
 *
 * Nothing here waits or knows the time, and choosing looks at every group: limits are meant to be in the hundreds.
 */
export class FairQueue<Item> {
  readonly #limits: QueueLimits
  readonly #groups = new Map<string, Group<Item>>()
  /** The last turn of a group, or of a member of one, as the number of that turn. */
  readonly #groupTurns = new Recent<number>(REMEMBERED)
  readonly #memberTurns = new Recent<number>(REMEMBERED)
  #turns = 0
  #size = 0

  constructor(limits: QueueLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#size
  }

  add({ group: name, member }: QueuePlace, item: Item): Added<Item> {
    const { perMember, perGroup, total } = this.#limits
    const group = this.#groups.get(name) ?? { name, members: new Map<string, Item[]>(), size: 0 }
    const items = group.members.get(member) ?? []
    if (items.length >= perMember || group.size >= perGroup) return { outcome: 'full' }
    let displaced: Item | undefined
    if (this.#size >= total) {
      displaced = this.#makeRoomFor(group)
      if (displaced === undefined) return { outcome: 'full' }
    }
    items.push(item)
    group.members.set(member, items)
    group.size += 1
    this.#groups.set(name, group)
    this.#size += 1
    return displaced === undefined ? { outcome: 'added' } : { outcome: 'added', displaced }
  }

  /** Takes out the item that is next. */
  take(): Item | undefined {
    const group = leastRecent(this.#groups.values(), ({ name }) => this.#groupTurns.get(name))
    if (group === undefined) return undefined
    const [member, items] =
      leastRecent(group.members, ([name]) => this.#memberTurns.get(memberSortKey(group.name, name))) ?? []
    const item = items?.[0]
    if (member === undefined || item === undefined) return undefined
    this.#removeAt(group, member, 0)
    return item
  }

  /** Counts the turn of one that did not have to wait. */
  noteTurn({ group, member }: QueuePlace): void {
    this.#turns += 1
    this.#groupTurns.set(group, this.#turns)
    this.#memberTurns.set(memberSortKey(group, member), this.#turns)
  }

  /** Takes out an item that is not to wait any longer. False if it does not wait here any more. */
  remove({ group: name, member }: QueuePlace, item: Item): boolean {
    const group = this.#groups.get(name)
    const index = group?.members.get(member)?.indexOf(item) ?? -1
    if (group === undefined || index < 0) return false
    this.#removeAt(group, member, index)
    return true
  }

  /** Removes the newest item of the group that would be the largest; undefined if that is the newcomer's own. */
  #makeRoomFor(newcomer: Group<Item>): Item | undefined {
    let largest: Group<Item> | undefined
    let most = { size: newcomer.size + 1, turn: this.#groupTurns.get(newcomer.name) ?? 0 }
    for (const group of this.#groups.values()) {
      if (group === newcomer || group.size < most.size) continue
      const turn = this.#groupTurns.get(group.name) ?? 0
      if (group.size === most.size && turn <= most.turn) continue
      largest = group
      most = { size: group.size, turn }
    }
    if (largest === undefined) return undefined
    let longest: readonly [string, Item[]] | undefined
    for (const entry of largest.members) {
      if (longest === undefined || entry[1].length >= longest[1].length) longest = entry
    }
    if (longest === undefined) return undefined
    const [member, items] = longest
    const displaced = items.at(-1)
    this.#removeAt(largest, member, items.length - 1)
    return displaced
  }

  #removeAt(group: Group<Item>, member: string, index: number): void {
    this.noteTurn({ group: group.name, member })
    const items = group.members.get(member) ?? []
    items.splice(index, 1)
    if (items.length === 0) group.members.delete(member)
    group.size -= 1
    if (group.size === 0) this.#groups.delete(group.name)
    this.#size -= 1
  }
}

/** Of those that never had a turn, the one that waits longest: maps keep the order in which their keys came. */
function leastRecent<Candidate>(
  candidates: Iterable<Candidate>,
  lastTurn: (candidate: Candidate) => number | undefined,
): Candidate | undefined {
  let best: Candidate | undefined
  let least = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const turn = lastTurn(candidate) ?? 0
    if (turn >= least) continue
    least = turn
    best = candidate
  }
  return best
}

/** One key for one pair, whatever is in the names. */
const memberSortKey = (group: string, member: string) => `${group.length}:${group}/${member}`
