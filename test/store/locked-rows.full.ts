/** Rows that another session keeps locked delay only those who need them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { isRefusal } from '../../src/contract/problem.ts'
import { Unavailable } from '../../src/store/errors.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { timed } from '../support/browser/lateness.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { addChannels, endAll, ids, start } from './group-commit.ts'

const LOCKED_ROWS = 20
const HELD_MILLISECONDS = 4000
const OTHER_WRITERS = 4
/** Of a write, with the way there and back. */
const DEADLINE_MILLISECONDS = 3500
/** How long a write waits for a row before it is answered with 503. */
const LOCK_MILLISECONDS = 2000

describe.skipIf(!engines.includes('postgres'))('rows locked by another session', () => {
  let place: StorePlace
  let store: Store
  let session: SQL
  beforeAll(async () => {
    place = await createStorePlace('postgres')
    store = createStore(
      await openPostgresEngine(place.databaseUrl as string, { connections: 10, pooled: false }),
    )
    session = new SQL(place.databaseUrl as string, { max: 1 })
    await addChannels(store)
  })
  afterAll(async () => {
    await store.close()
    await session.close()
    await place.remove()
  })

  const write = (name: string, value: string) => store.commands.setFact({ name, value })
  /** Repeats a write until `isOver`, and counts what comes of it. */
  const writeUntil = async (isOver: () => boolean, name: (n: number) => string) => {
    const counts = { ok: 0, refused: 0, longest: 0 }
    for (let n = 0; !isOver(); n++) {
      const { outcome, took } = await timed(write(name(n), String(n)))
      if (outcome instanceof Error && !(outcome instanceof Unavailable)) throw outcome
      if (outcome instanceof Unavailable) counts.refused += 1
      else counts.ok += 1
      counts.longest = Math.max(counts.longest, took)
    }
    return counts
  }

  test('leave other writes alone; those of the rows wait, and are answered in time', async () => {
    const locked = Array.from({ length: LOCKED_ROWS }, (_, n) => `locked ${n}`)
    for (const name of locked) await write(name, 'before')
    let others: { ok: number; refused: number }[] = []
    let blocked: Promise<{ ok: number; refused: number; longest: number }[]> | undefined
    await session.begin(async tx => {
      await tx.unsafe(`select 1 from facts where name like 'locked %' order by name for update`)
      const until = performance.now() + HELD_MILLISECONDS
      const isOver = () => performance.now() > until
      blocked = Promise.all(locked.map(name => writeUntil(isOver, () => name)))
      others = await Promise.all(
        Array.from({ length: OTHER_WRITERS }, (_, writer) =>
          writeUntil(isOver, n => `other ${writer} ${n % 10}`),
        ),
      )
    })
    const [ok, refused] = [sum(others.map(each => each.ok)), sum(others.map(each => each.refused))]
    expect(ok).toBeGreaterThan(OTHER_WRITERS)
    expect(ok / (ok + refused)).toBeGreaterThanOrEqual(0.95)
    for (const { longest } of (await blocked) ?? []) expect(longest).toBeLessThan(DEADLINE_MILLISECONDS)
    // Nothing is left of the waits.
    await Promise.all(locked.map(name => write(name, 'after')))
  })

  test('that are released in time are waited for', async () => {
    await write('awaited', 'before')
    let written: Promise<unknown> | undefined
    await session.begin(async tx => {
      await tx.unsafe(`select 1 from facts where name = 'awaited' for update`)
      written = write('awaited', 'after')
      await Bun.sleep(LOCK_MILLISECONDS / 4)
    })
    await written
    expect(await store.facts.find('awaited')).toBe('after')
  })

  test('that one command of a group needs do not delay the others of the group', async () => {
    let late: Promise<unknown> | undefined
    await session.begin(async tx => {
      // Its stream refers to the user, and only this reference waits.
      await tx.unsafe(`select 1 from users where id = '5' for update`)
      const all = ids.map(id => start(store, id))
      late = all[4]?.catch(error => error)
      const { outcome, took } = await timed(Promise.all(all.filter((_, index) => index !== 4)))
      expect((outcome as unknown[]).filter(isRefusal)).toEqual([])
      expect(took).toBeLessThan(LOCK_MILLISECONDS)
    })
    await late
    await endAll(store)
  })
})

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
