import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { createStorePlace, type StorePlace } from '../support/server.ts'

/** A later turn of the event loop. */
const nextTurn = () => Bun.sleep(0)

describe('the reader of SQLite', () => {
  let place: StorePlace
  let store: Store
  let other: Database
  beforeEach(async () => {
    place = await createStorePlace('sqlite')
    store = createStore(await openSqliteEngine(`${place.folder}/strand.db`))
    other = new Database(`${place.folder}/strand.db`)
    other.run('pragma busy_timeout = 5000')
  })
  afterEach(async () => {
    other.close()
    await store.close()
    await place.remove()
  })
  const setFromOutside = (value: number) =>
    other.run('insert into facts values (?, ?) on conflict (name) do update set value = excluded.value', [
      'outside',
      String(value),
    ])

  test('what a command did is seen by every query after it, however many others are reading', async () => {
    let reading = true
    // Readers without end: some of them always have a view open when a command returns.
    const readers = Array.from({ length: 4 }, async (_, n) => {
      while (reading) {
        await store.facts.find(`fact ${n}`)
        if (Math.random() < 0.2) await nextTurn()
      }
    })
    await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        for (let round = 0; round < 200; round++) {
          const value = String(round)
          await store.commands.setFact({ name: `fact ${n}`, value })
          expect(await store.facts.find(`fact ${n}`)).toBe(value)
        }
      }),
    )
    reading = false
    await Promise.all(readers)
  })

  test('what another connection wrote is seen in the next turn, and not in the middle of this one', async () => {
    for (let round = 1; round <= 200; round++) {
      const before = await store.facts.find('outside')
      setFromOutside(round)
      expect(await store.facts.find('outside')).toBe(before)
      await nextTurn()
      expect(await store.facts.find('outside')).toBe(String(round))
    }
  })

  test('what another process wrote is seen by a caller that heard of it and asks here', async () => {
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async () => new Response(await store.facts.find('elsewhere')),
    })
    let reading = true
    // Readers of all kinds, which look and then hold up the turn: after a pause, and after a command.
    const hold = async () => {
      await store.facts.find('elsewhere')
      for (const end = performance.now() + 2; performance.now() < end; );
    }
    const readers = [
      async () => {
        while (reading) {
          await Bun.sleep(1)
          await hold()
        }
      },
      async () => {
        while (reading) {
          await store.commands.setFact({ name: 'here', value: 'x' })
          await hold()
        }
      },
    ].map(read => read())
    const script = `
      import { openSqliteEngine } from './src/store/sqlite/sqlite.ts'
      const [file, url] = process.argv.slice(1)
      const engine = await openSqliteEngine(file)
      let stale = 0
      for (let n = 0; n < 200; n++) {
        await engine.run('setFact', { name: 'elsewhere', value: String(n) })
        if (Number(await (await fetch(url)).text()) !== n) stale += 1
      }
      process.stdout.write(stale + ' stale')
      await engine.close()
      process.exit(0)`
    const child = Bun.spawn([process.execPath, '-e', script, `${place.folder}/strand.db`, server.url.href], {
      stdout: 'pipe',
    })
    expect(await new Response(child.stdout).text()).toBe('0 stale')
    reading = false
    await Promise.all(readers)
    await server.stop(true)
  }, 30_000)

  test('a view ends with its turn, so the log can be normalized into the file', async () => {
    await store.commands.setFact({ name: 'one', value: '1' })
    await store.facts.find('one')
    await nextTurn()
    const normalized = other.query('pragma wal_checkpoint(truncate)').get() as { busy: number }
    expect(normalized.busy).toBe(0)
  })

  test('a query that fails leaves the next one unharmed', async () => {
    const failing = store.facts.find({} as never).catch((error: unknown) => error)
    expect(await failing).toBeInstanceOf(Error)
    setFromOutside(1)
    await nextTurn()
    expect(await store.facts.find('outside')).toBe('1')
  })
})
