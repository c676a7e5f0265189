/** Several hosts, and what becomes of reads and writes while the server is away. */
import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { openPostgresEngine } from '../../src/store/engines/postgres.ts'
import { Unavailable } from '../../src/store/errors.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { Cable } from '../support/cable.ts'
import { freePort } from '../support/postgres.ts'
import { createStorePlace, engines } from '../support/server.ts'

const OPTIONS = { connections: 4, pooled: false }

/** A store behind a cable; `before` are hosts that the URL names first. */
async function openBehindCable(before: readonly string[] = []) {
  const place = await createStorePlace('postgres')
  const url = new URL(place.databaseUrl ?? '')
  const cable = await Cable.to(url.hostname, Number(url.port))
  const hosts = [...before, `127.0.0.1:${cable.port}`].join(',')
  const store = createStore(
    await openPostgresEngine((place.databaseUrl ?? '').replace(url.host, `${hosts}`), OPTIONS),
  )
  return {
    store,
    cable,
    databaseUrl: place.databaseUrl ?? '',
    close: async () => {
      await store.close()
      await cable.close()
      await place.remove()
    },
  }
}

const write = (store: Store, value: string) => store.commands.noteFact({ name: 'test', value })
const read = (store: Store) => store.facts.find('test')

/** How it ended, and within how many milliseconds. */
async function timed(work: Promise<unknown>): Promise<{ outcome: unknown; took: number }> {
  const began = performance.now()
  const outcome = await work.catch((error: unknown) => error)
  return { outcome, took: performance.now() - began }
}

async function until(holds: () => Promise<boolean>, milliseconds: number): Promise<number> {
  const began = performance.now()
  while (!(await holds().catch(() => false))) {
    if (performance.now() - began > milliseconds) throw new Error(`not within ${milliseconds} ms`)
    await Bun.sleep(20)
  }
  return performance.now() - began
}

describe.skipIf(!engines.includes('postgres'))('PostgreSQL by several hosts', () => {
  test('the one that can be written to is found, wherever it stands', async () => {
    const { store, close } = await openBehindCable([`127.0.0.1:${await freePort()}`, 'localhost:1'])
    await write(store, 'found')
    expect(await read(store)).toBe('found')
    await close()
  })

  test('none: said within seconds, in words', async () => {
    const opened = openPostgresEngine(
      `postgres://postgres@127.0.0.1:${await freePort()},127.0.0.1:1/x`,
      OPTIONS,
    )
    const { outcome, took } = await timed(opened)
    expect(outcome).toBeInstanceOf(Unavailable)
    expect(took).toBeLessThan(5000)
  })

  test('cut off: reads and writes are told to come back, and go on when it is mended', async () => {
    const { store, cable, close } = await openBehindCable()
    await write(store, 'before')
    cable.cut()
    for (let n = 0; n < 2; n++) {
      for (const work of [() => read(store), () => write(store, 'lost')]) {
        const { outcome, took } = await timed(work())
        expect(outcome).toBeInstanceOf(Unavailable)
        expect(took).toBeLessThan(3500)
      }
    }
    cable.mend()
    const outage = await until(async () => (await read(store)) === 'before', 5000)
    expect(outage).toBeLessThan(5000)
    await until(() => write(store, 'after').then(() => true), 5000)
    expect(await read(store)).toBe('after')
    await close()
  })

  test('plugged up, so that nobody is told: nothing hangs longer than its deadline, and it heals', async () => {
    const { store, cable, close } = await openBehindCable()
    await write(store, 'before')
    cable.plug()
    const both = await Promise.all([timed(read(store)), timed(write(store, 'unknown'))])
    for (const { outcome, took } of both) {
      expect(outcome).toBeInstanceOf(Unavailable)
      expect(took).toBeLessThan(3500)
    }
    // By now it is known to be away: nobody waits for it.
    expect((await timed(read(store))).took).toBeLessThan(3500)
    cable.mend()
    await until(async () => (await read(store)) !== undefined, 5000)
    await until(() => write(store, 'after').then(() => true), 5000)
    expect(await read(store)).toBe('after')
    await close()
  }, 30_000)

  test('a row that somebody holds: writes end in words, reads go on, and after its release all is well', async () => {
    const { store, databaseUrl, close } = await openBehindCable()
    await write(store, 'held')
    const holder = await new SQL(databaseUrl, { max: 1 }).reserve()
    await holder.unsafe('begin')
    await holder.unsafe("select value from facts where name = 'test' for update")
    const writes = Array.from({ length: 40 }, (_, n) => timed(write(store, String(n))))
    for (let n = 0; n < 20; n++) expect((await timed(Promise.resolve(read(store)))).outcome).toBe('held')
    for (const { outcome, took } of await Promise.all(writes)) {
      expect(outcome).toBeInstanceOf(Unavailable)
      expect(took).toBeLessThan(3500)
    }
    await holder.unsafe('rollback')
    await holder.close()
    await until(async () => write(store, 'released').then(() => true), 2000)
    await close()
  })
})
