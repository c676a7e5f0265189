/** Several hosts, and what becomes of reads and writes while the server is away. */
import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { Unavailable } from '../../src/store/errors.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { translatePostgresError } from '../../src/store/postgres/postgres-connection.ts'
import { listPools, openPools } from '../../src/store/postgres/postgres-pools.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { timed } from '../support/browser/lateness.ts'
import { behindCables, Cable } from '../support/proxies/cable.ts'
import { createStorePlace, engines } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'

const OPTIONS = { connections: 4, pooled: false }
/** The deadline is 3 s; the rest is the way there and back. */
const LATEST_MILLISECONDS = 3500
const HEALED_WITHIN_MILLISECONDS = 20_000

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

const write = (store: Store, value: string) => store.commands.setFact({ name: 'test', value })
const read = (store: Store) => store.facts.find('test')

async function until(holds: () => Promise<boolean>): Promise<void> {
  const began = performance.now()
  while (!(await holds().catch(() => false))) {
    if (performance.now() - began > HEALED_WITHIN_MILLISECONDS) throw new Error('it does not heal')
    await Bun.sleep(20)
  }
}

describe.skipIf(!engines.includes('postgres'))('PostgreSQL by several hosts', () => {
  test.concurrent('the one that can be written to is found, wherever it stands', async () => {
    const { store, close } = await openBehindCable([`127.0.0.1:${await freePort()}`, 'localhost:1'])
    await write(store, 'found')
    expect(await read(store)).toBe('found')
    await close()
  })

  test.concurrent('none: reported within seconds, in words', async () => {
    const opened = openPostgresEngine(
      `postgres://postgres@127.0.0.1:${await freePort()},127.0.0.1:1/x`,
      OPTIONS,
    )
    const { outcome, took } = await timed(opened)
    expect(outcome).toBeInstanceOf(Unavailable)
    expect(took).toBeLessThan(5000)
  })

  test.concurrent('cut off: reads and writes are refused for a while, and continue when it is mended', async () => {
    const { store, cable, close } = await openBehindCable()
    await write(store, 'before')
    cable.cut()
    for (let n = 0; n < 2; n++) {
      for (const work of [() => read(store), () => write(store, 'lost')]) {
        const { outcome, took } = await timed(work())
        expect(outcome).toBeInstanceOf(Unavailable)
        expect(took).toBeLessThan(LATEST_MILLISECONDS)
      }
    }
    cable.mend()
    await until(async () => (await read(store)) === 'before')
    await until(() => write(store, 'after').then(() => true))
    expect(await read(store)).toBe('after')
    await close()
  })

  test.concurrent('plugged up, without notice: nothing hangs longer than its deadline, and it heals', async () => {
    const { store, cable, close } = await openBehindCable()
    await write(store, 'before')
    cable.plug()
    const both = await Promise.all([timed(read(store)), timed(write(store, 'unknown'))])
    for (const { outcome, took } of both) {
      expect(outcome).toBeInstanceOf(Unavailable)
      expect(took).toBeLessThan(LATEST_MILLISECONDS)
    }
    // By now it is known to be away: no caller waits for it.
    expect((await timed(read(store))).took).toBeLessThan(LATEST_MILLISECONDS)
    cable.mend()
    await until(async () => (await read(store)) !== undefined)
    await until(() => write(store, 'after').then(() => true))
    expect(await read(store)).toBe('after')
    await close()
  })

  test.concurrent('a row that another session holds: writes end in words, reads go on, and after its release all is well', async () => {
    const { store, databaseUrl, close } = await openBehindCable()
    await write(store, 'held')
    const holder = await new SQL(databaseUrl, { max: 1 }).reserve()
    await holder.unsafe('begin')
    await holder.unsafe("select value from facts where name = 'test' for update")
    const writes = Array.from({ length: 40 }, (_, n) => timed(write(store, String(n))))
    for (let n = 0; n < 20; n++) expect((await timed(Promise.resolve(read(store)))).outcome).toBe('held')
    for (const { outcome, took } of await Promise.all(writes)) {
      expect(outcome).toBeInstanceOf(Unavailable)
      expect(took).toBeLessThan(LATEST_MILLISECONDS)
    }
    await holder.unsafe('rollback')
    await holder.close()
    await until(async () => write(store, 'released').then(() => true))
    await close()
  })
})

describe.skipIf(!engines.includes('postgres'))('the log about the primary', () => {
  test.concurrent('logs which it is, that it is gone, and which it is then', async () => {
    const { cables, hosts, databaseUrl, remove } = await behindCables(2)
    const lines: string[] = []
    const log = createLog({ level: 'info', readable: false, write: line => lines.push(line) })
    const engine = await openPostgresEngine(databaseUrl, { ...OPTIONS, log })
    const reported = (msg: string) => lines.map(line => JSON.parse(line)).filter(line => line.msg === msg)
    const until = async (msg: string) => {
      const deadline = performance.now() + HEALED_WITHIN_MILLISECONDS
      while (reported(msg).length === 0 && performance.now() < deadline) await Bun.sleep(20)
      return reported(msg)
    }
    const [first] = await until('found the PostgreSQL primary')
    expect(hosts).toContain(first.host)
    cables[hosts.indexOf(first.host)]?.cut()
    const [changed] = await until('the PostgreSQL primary changed')
    expect(changed).toMatchObject({
      level: 'warn',
      host: hosts.find(host => host !== first.host),
      timeline: first.timeline,
      previous_host: first.host,
      previous_timeline: first.timeline,
    })
    for (const cable of cables) cable.cut()
    const [gone] = await until('the PostgreSQL primary is gone; looking for another')
    expect(gone).toMatchObject({ level: 'warn', host: changed.host })
    expect(gone.reason).toContain(`${changed.host}: `)
    cables[hosts.indexOf(changed.host)]?.mend()
    expect(await until('the PostgreSQL primary is back')).toMatchObject([{ host: changed.host }])
    await engine.close()
    await remove()
  })
})

describe.skipIf(!engines.includes('postgres'))('a process that hangs inside a transaction', () => {
  test('loses it, and others can write', async () => {
    const place = await createStorePlace('postgres')
    const url = place.databaseUrl ?? ''
    const store = createStore(await openPostgresEngine(url, OPTIONS))
    const pools = await openPools(url, OPTIONS, () => undefined)
    await write(store, 'before')
    const [locked, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const hung = pools.writing
      .run(connection =>
        connection.begin(async transaction => {
          await transaction.unsafe("update facts set value = 'hung' where name = 'test'")
          locked.resolve()
          await resumed.promise
          await transaction.unsafe('select 1')
        }),
      )
      .then(() => 'committed', translatePostgresError)
    await locked.promise
    await until(() => write(store, 'after').then(() => true))
    resumed.resolve()
    expect(await hung).toBeInstanceOf(Unavailable)
    expect(await read(store)).toBe('after')
    await Promise.all(listPools(pools).map(pool => pool.close(1)))
    await store.close()
    await place.remove()
  })
})
