import { LruCache } from '../lru-cache.ts'

/** The owner of an item: a member of a group, such as an address of a network. */
export interface QueuePlace {
  readonly group: string
  readonly member: string
}

export interface QueueLimits {
  readonly perMember: number
  readonly perGroup: number
  readonly total: number
}

/** `displaced` was removed from the queue to make space for the added item. */
export type Added<Item> =
  | { readonly outcome: 'added'; readonly displaced?: Item }
  | { readonly outcome: 'full' }

interface Group<Item> {
  readonly name: string
  readonly members: Map<string, Item[]>
  size: number
}

/** How many groups and members keep their position in the order after their last item left. */
const REMEMBERED = 20_000

/**
 * A shared queue that no member can fill at the expense of others. Next is the least recently served group, in it the least
 * recently served member, and of that member the oldest item. Groups that always have items waiting therefore take turns,
 * however many items they have, and one that was not served recently goes first. Leaving the queue counts as a turn too, so
 * that giving up and coming back gains nothing over a first-time caller.
 *
 * Memory is bounded. Items beyond the limit of a member or group are rejected. When the whole queue is full, the largest
 * group loses its newest item to a new item of another group.
 *
 * The queue has no timers, and selection is linear in the number of groups: limits are meant to be in the hundreds.
 */
export class FairQueue<Item> {
  readonly #limits: QueueLimits
  readonly #groups = new Map<string, Group<Item>>()
  /** The number of the last turn of each group and member. */
  readonly #groupTurns = new LruCache<number>(REMEMBERED)
  readonly #memberTurns = new LruCache<number>(REMEMBERED)
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
      displaced = this.#makeSpaceFor(group)
      if (displaced === undefined) return { outcome: 'full' }
    }
    items.push(item)
    group.members.set(member, items)
    group.size += 1
    this.#groups.set(name, group)
    this.#size += 1
    return displaced === undefined ? { outcome: 'added' } : { outcome: 'added', displaced }
  }

  /** Removes and returns the next item. */
  take(): Item | undefined {
    const group = leastRecent(this.#groups.values(), ({ name }) => this.#groupTurns.get(name))
    if (group === undefined) return undefined
    const [member, items] =
      leastRecent(group.members, ([name]) => this.#memberTurns.get(memberKey(group.name, name))) ?? []
    const item = items?.[0]
    if (member === undefined || item === undefined) return undefined
    this.#removeAt(group, member, 0)
    return item
  }

  /** Counts a turn of a member that did not have to wait. */
  noteTurn({ group, member }: QueuePlace): void {
    this.#turns += 1
    this.#groupTurns.set(group, this.#turns)
    this.#memberTurns.set(memberKey(group, member), this.#turns)
  }

  /** Removes an item. False if it is not in the queue. */
  remove({ group: name, member }: QueuePlace, item: Item): boolean {
    const group = this.#groups.get(name)
    const index = group?.members.get(member)?.indexOf(item) ?? -1
    if (group === undefined || index < 0) return false
    this.#removeAt(group, member, index)
    return true
  }

  /** Removes the newest item of the largest group; undefined if that is the newcomer's group. */
  #makeSpaceFor(newcomer: Group<Item>): Item | undefined {
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

/** Among candidates without a turn, the first one added: maps keep insertion order. */
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

/** A distinct key for each pair, whatever characters the names contain. */
const memberKey = (group: string, member: string) => `${group.length}:${group}/${member}`
