/**
 * Disk images as a power loss can leave them. Everything that a completed sync covers is there. Of later writes, any subset
 * may be there: torn at sectors of 512 bytes and in any order. A directory entry is durable only after a sync of the folder.
 */
import type { SeededRandom } from '../../src/kit/random.ts'
import type { DiskEvent, Synced } from './recording.ts'

const SECTOR = 512

/** What survives of the writes that were not synced. */
export const FATES = [
  /** None of them. */
  'nothing kept',
  /** All of them, as after a crash of the process alone. */
  'everything kept',
  /** The first ones, in order; the last of these is torn. */
  'a prefix kept',
  /** A random subset of whole writes, reordered. */
  'some writes kept, in any order',
  /** Each sector shows its content after a randomly chosen write. */
  'each sector from another time',
] as const
export type Fate = (typeof FATES)[number]

type Change = Extract<DiskEvent, { kind: 'write' | 'truncate' }>
type Naming = Extract<DiskEvent, { kind: 'create' | 'unlink' | 'rename' }>

/** A file's bytes, growing where they must; what was never written is zero. */
export class Content {
  #bytes: Uint8Array
  #size: number

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.#bytes = bytes
    this.#size = bytes.length
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }

  copy(): Content {
    return new Content(this.bytes.slice())
  }

  apply(change: Change): void {
    if (change.kind === 'truncate') this.#resize(change.size)
    else this.write(change.offset, change.bytes)
  }

  write(offset: number, bytes: Uint8Array): void {
    if (offset + bytes.length > this.#size) this.#resize(offset + bytes.length)
    this.#bytes.set(bytes, offset)
  }

  #resize(size: number): void {
    if (size > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(size, this.#bytes.length * 2))
      larger.set(this.bytes)
      this.#bytes = larger
    } else this.#bytes.fill(0, Math.min(size, this.#size), this.#size)
    this.#size = size
  }
}

/** Replays a recording and tracks which writes are durable and which are pending. */
export class Disk {
  readonly #events: readonly DiskEvent[]
  #position = 0
  readonly #durable = new Map<number, Content>()
  readonly #pending = new Map<number, Change[]>()
  #durableNames = new Map<string, number>()
  #pendingNames: Naming[] = []

  constructor(events: readonly DiskEvent[]) {
    this.#events = events
  }

  /** Replays up to event number `count`; never moves backwards. */
  advance(count: number): void {
    for (; this.#position < count; this.#position++) {
      const event = this.#events[this.#position]
      if (event === undefined) return
      if (event.kind === 'sync') this.#sync(event.of, event.began)
      else if (event.kind === 'write' || event.kind === 'truncate') this.#changesOf(event.file).push(event)
      else this.#pendingNames.push(event)
    }
  }

  /** The files by name after a power loss at this point. */
  image(fate: Fate, random: SeededRandom): Map<string, Uint8Array> {
    const names = new Map(this.#durableNames)
    for (const naming of survivors(this.#pendingNames, fate, random)) rename(names, naming)
    return new Map([...names].map(([name, file]) => [name, this.#contentOf(file, fate, random)]))
  }

  #contentOf(file: number, fate: Fate, random: SeededRandom): Uint8Array {
    const content = this.#durable.get(file)?.copy() ?? new Content()
    const changes = this.#changesOf(file)
    if (fate === 'each sector from another time') keepSectors(content, changes, random)
    else if (fate === 'some writes kept, in any order') {
      for (const change of shuffled(survivors(changes, fate, random), random)) content.apply(change)
    } else {
      const kept = survivors(changes, fate, random)
      for (const change of kept) content.apply(change)
      const next = changes[kept.length]
      if (fate === 'a prefix kept' && next?.kind === 'write') {
        const sectors = random.between(0, Math.floor(next.bytes.length / SECTOR))
        // Up to a border between sectors of the disk, which need not be one of the write.
        const end = Math.max(0, sectors * SECTOR - (next.offset % SECTOR))
        if (end > 0) content.write(next.offset, next.bytes.subarray(0, end))
      }
    }
    return content.bytes
  }

  #sync(of: Synced, began: number): void {
    if (of === 'folder') {
      for (const naming of this.#pendingNames) if (naming.at <= began) rename(this.#durableNames, naming)
      this.#pendingNames = this.#pendingNames.filter(each => each.at > began)
      return
    }
    const content = this.#durable.get(of) ?? new Content()
    this.#durable.set(of, content)
    const changes = this.#changesOf(of)
    for (const change of changes) if (change.at <= began) content.apply(change)
    this.#pending.set(
      of,
      changes.filter(each => each.at > began),
    )
  }

  #changesOf(file: number): Change[] {
    const known = this.#pending.get(file)
    if (known !== undefined) return known
    const none: Change[] = []
    this.#pending.set(file, none)
    return none
  }
}

/** The survivors in their original order. */
function survivors<T>(all: readonly T[], fate: Fate, random: SeededRandom): readonly T[] {
  if (fate === 'nothing kept') return []
  if (fate === 'everything kept') return all
  if (fate === 'a prefix kept') return all.slice(0, random.between(0, all.length))
  return all.filter(() => random.next() < 0.5)
}

/**
 * Each sector gets its content as of a randomly chosen change. A sector that two writes share is therefore never seen with
 * the second write and without the first: the page cache cannot produce that.
 */
function keepSectors(content: Content, changes: readonly Change[], random: SeededRandom): void {
  const lastKept = new Map<number, number>()
  const keeps = (sector: number, index: number): boolean => {
    let last = lastKept.get(sector)
    if (last === undefined) {
      last = random.between(-1, changes.length - 1)
      lastKept.set(sector, last)
    }
    return index <= last
  }
  for (const [index, change] of changes.entries()) {
    if (change.kind === 'truncate') {
      if (random.next() < 0.5) content.apply(change)
      continue
    }
    const end = change.offset + change.bytes.length
    for (let from = change.offset; from < end; ) {
      const sector = Math.floor(from / SECTOR)
      const to = Math.min(end, (sector + 1) * SECTOR)
      if (keeps(sector, index))
        content.write(from, change.bytes.subarray(from - change.offset, to - change.offset))
      from = to
    }
  }
}

function rename(names: Map<string, number>, naming: Naming): void {
  if (naming.kind === 'create') names.set(naming.name, naming.file)
  else if (naming.kind === 'unlink') names.delete(naming.name)
  else {
    const file = names.get(naming.from)
    if (file === undefined) return
    names.delete(naming.from)
    names.set(naming.to, file)
  }
}

function shuffled<T>(all: readonly T[], random: SeededRandom): T[] {
  const order = [...all]
  for (let last = order.length - 1; last > 0; last--) {
    const other = random.between(0, last)
    ;[order[last], order[other]] = [order[other] as T, order[last] as T]
  }
  return order
}
