/**
 * A store of one group in memory, right or with a bug, and clients that use it at the same time. Everything happens in
 * steps: a seeded draw determines who takes the next one, so that a history can be repeated.
 */
import type { Group } from '../../rig/judge/judge.ts'
import type { Operation, Outcome, Row } from '../../rig/judge/operation.ts'
import { SeededRandom } from '../../src/kit/random.ts'

export const PLANTED_BUGS = [
  'acknowledge before commit',
  'commit row by row',
  'stale read',
  'lost update',
] as const
type Bug = (typeof PLANTED_BUGS)[number] | 'none'

const SIZE = 4
const CLIENTS = 4
const STEPS = 2000
const LAG = 30
const KEY = 'group'

type Steps<T = void> = Generator<undefined, T>

class Store {
  rows: Row[] = Array.from({ length: SIZE }, () => ({ status: 'CLAIMED', version: asVersion(0) }))
  #replica = this.rows
  #copiedAt = 0
  #wroteAt = -LAG
  readonly late: { at: number; status: string }[] = []
  readonly #bug: Bug

  constructor(bug: Bug) {
    this.#bug = bug
  }

  *write(status: string, now: () => number): Steps {
    yield
    if (this.#bug === 'acknowledge before commit') this.late.push({ at: now() + LAG, status })
    else if (this.#bug === 'lost update' && now() - this.#wroteAt < LAG) return
    else if (this.#bug === 'commit row by row') yield* this.#writeRowByRow(status)
    else this.commit(status)
    this.#wroteAt = now()
    yield
  }

  *read(now: () => number): Steps<readonly Row[]> {
    yield
    if (now() - this.#copiedAt > LAG) [this.#replica, this.#copiedAt] = [this.rows, now()]
    const rows = this.#bug === 'stale read' ? this.#replica : this.rows
    yield
    return rows
  }

  commit(status: string): void {
    const version = this.#nextVersion()
    this.rows = this.rows.map(() => ({ status, version }))
  }

  *#writeRowByRow(status: string): Steps {
    const version = this.#nextVersion()
    for (let index = 0; index < SIZE; index++) {
      this.rows = this.rows.with(index, { status, version })
      yield
    }
  }

  #nextVersion(): string {
    return asVersion(Math.max(...this.rows.map(row => Number(row.version))) + 1)
  }
}

const asVersion = (number: number) => String(number).padStart(6, '0')

export function simulate(bug: Bug, seed: number): { history: Operation[]; groups: Group[] } {
  const random = new SeededRandom(seed)
  const store = new Store(bug)
  const history: Operation[] = []
  /** Writes without an answer yet: at the end their outcome is unknown. */
  const underWay = new Map<string, Operation>()
  let step = 0
  const now = () => step

  function* client(process: string): Steps {
    for (;;) {
      const invoked = step
      const seen = (outcome: Outcome) => ({ process, key: KEY, invoked, returned: step, outcome })
      if (random.next() < 0.5) {
        const status = random.pick(['CLAIMED', 'FULFILLED'])
        if (random.next() < 0.1) {
          // The caller gives up; whether the write happens, and when, is unknown.
          if (random.next() < 0.5) store.late.push({ at: step + random.between(1, 200), status })
          history.push({ kind: 'write', status, ...seen('unknown') })
          yield
        } else {
          underWay.set(process, { kind: 'write', status, ...seen('unknown') })
          yield* store.write(status, now)
          history.push({ kind: 'write', status, ...seen('ok') })
          underWay.delete(process)
        }
      } else {
        const rows = yield* store.read(now)
        history.push({ kind: 'read', rows, ...seen('ok') })
      }
      yield
    }
  }

  const initial = store.rows[0] as Row
  const clients = Array.from({ length: CLIENTS }, (_, index) => client(`client ${index + 1}`))
  for (step = 1; step <= STEPS; step++) {
    for (const due of store.late.filter(each => each.at === step)) store.commit(due.status)
    random.pick(clients).next()
  }
  return { history: [...history, ...underWay.values()], groups: [{ key: KEY, size: SIZE, initial }] }
}
