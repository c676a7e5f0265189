/**
 * Whether a history of one register could have come from a store that does one thing at a time, each of them between its
 * call and its answer. The search is the one of Wing and Gong with the memory of Lowe: put any operation first that may be
 * first, go on with the rest, and never look twice at the same remainder in the same state.
 *
 * Three things keep it small. A write does not return which version it made, so a state is a status whose version is open
 * until a read shows it; versions only go up. A read that shows just what the state is can be taken at once. And writes of
 * unknown outcome have no end, so that of two that set the same status the older one will always do: it is enough to count
 * how many were used, and to use one only where a read shows it.
 */
import type { Operation, Read, Row, Write } from './operation.ts'

export type Explanation =
  | { readonly verdict: 'linearizable' }
  /** `stuck`: the earliest operation that no order explains. */
  | { readonly verdict: 'impossible'; readonly stuck: Operation }
  | { readonly verdict: 'undecided' }

/** Remainders looked at before the search gives up. */
const MAX_WAIT = 1_000_000

/** A remainder of the history and the state of the register before it. */
interface Place {
  /** All operations before this one are in order already. */
  readonly next: number
  /** And these, which come behind it in the order of calls. */
  readonly ahead: readonly number[]
  /** How many of the unknown writes were used, for each status. */
  readonly used: readonly number[]
  readonly status: string
  /** Undefined from a write to the first read that shows its version. */
  readonly version: string | undefined
  /** The newest version that was shown. */
  readonly newest: string
}

type Definite = (Write | Read) & { readonly outcome: 'ok' }

export function explain(history: readonly Operation[], initial: Row): Explanation {
  const definite = history
    .filter((each): each is Definite => each.outcome === 'ok')
    .toSorted((a, b) => a.invoked - b.invoked)
  const unknown = unknownWrites(history)
  const start: Place = {
    next: 0,
    ahead: [],
    used: unknown.map(() => 0),
    status: initial.status,
    version: initial.version,
    newest: initial.version,
  }
  const open: Place[] = [start]
  const seen = new Set<string>()
  let furthest = 0
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (place.next === definite.length) return { verdict: 'linearizable' }
    const name = nameOf(place)
    if (seen.has(name)) continue
    if (seen.size === MAX_WAIT) return { verdict: 'undecided' }
    seen.add(name)
    furthest = Math.max(furthest, place.next)
    // The last one pushed is looked at first: what is certain before what is not.
    open.push(...unknownSteps(place, definite, unknown), ...certainSteps(place, definite))
  }
  return { verdict: 'impossible', stuck: definite[furthest] as Operation }
}

interface UnknownWrites {
  readonly status: string
  /** When each was called, oldest first. */
  readonly calls: readonly number[]
}

function unknownWrites(history: readonly Operation[]): UnknownWrites[] {
  const writes = history.filter((each): each is Write => each.kind === 'write' && each.outcome === 'unknown')
  return [...Map.groupBy(writes, each => each.status)].map(([status, all]) => {
    return { status, calls: all.map(each => each.invoked).toSorted((a, b) => a - b) }
  })
}

function nameOf({ next, ahead, used, status, version, newest }: Place): string {
  return `${next}|${ahead.join()}|${used.join()}|${status}|${version ?? ''}|${newest}`
}

/** The operations that may be first, and the moment until which others may be put before them. */
function candidates({ next, ahead }: Place, definite: readonly Definite[]) {
  const indexes: number[] = []
  let until = Number.POSITIVE_INFINITY
  for (let index = next; index < definite.length; index++) {
    const operation = definite[index] as Definite
    if (operation.invoked > until) break
    if (ahead.includes(index)) continue
    indexes.push(index)
    until = Math.min(until, operation.returned)
  }
  return { indexes, until }
}

function certainSteps(place: Place, definite: readonly Definite[]): Place[] {
  const steps: Place[] = []
  for (const index of candidates(place, definite).indexes) {
    const operation = definite[index] as Definite
    const after = operation.kind === 'write' ? written(place, operation.status) : shown(place, operation)
    if (after === undefined) continue
    const step = { ...after, ...without(place, index) }
    if (operation.kind === 'read' && place.version !== undefined) return [step]
    steps.push(step)
  }
  return steps.reverse()
}

/** An unknown write that no read shows may as well not have happened: so each is followed by a read that shows it. */
function unknownSteps(
  place: Place,
  definite: readonly Definite[],
  unknown: readonly UnknownWrites[],
): Place[] {
  const { indexes, until } = candidates(place, definite)
  return unknown.flatMap(({ status, calls }, which) => {
    const call = calls[place.used[which] ?? 0]
    if (call === undefined || call > until) return []
    const used = place.used.map((count, index) => (index === which ? count + 1 : count))
    return indexes.flatMap(index => {
      const operation = definite[index] as Definite
      const after = operation.kind === 'read' ? shown(written(place, status), operation) : undefined
      return after === undefined ? [] : [{ ...after, ...without(place, index), used }]
    })
  })
}

function written(place: Place, status: string): Place {
  return { ...place, status, version: undefined }
}

/** The state after a read, if the read can be true in this one. */
function shown(place: Place, read: Read): Place | undefined {
  const [row] = read.rows
  if (row === undefined || row.status !== place.status) return undefined
  if (place.version !== undefined) return row.version === place.version ? place : undefined
  return row.version > place.newest ? { ...place, version: row.version, newest: row.version } : undefined
}

function without({ next, ahead }: Place, index: number): Pick<Place, 'next' | 'ahead'> {
  if (index !== next) return { next, ahead: [...ahead, index].toSorted((a, b) => a - b) }
  const rest = [...ahead]
  let first = next + 1
  while (rest[0] === first) {
    rest.shift()
    first++
  }
  return { next: first, ahead: rest }
}
