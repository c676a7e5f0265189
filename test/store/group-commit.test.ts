/** Starts and ends of streams that share a transaction: each is answered as if it had been alone. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { isRefusal, refuse } from '../../src/contract/problem.ts'
import { exposition, Metrics } from '../../src/kit/telemetry/metrics.ts'
import type { Lookup } from '../../src/store/combinable.ts'
import { Combiner } from '../../src/store/engine/combiner.ts'
import type { Engine } from '../../src/store/engine.ts'
import { Conflict, Overloaded, Unavailable } from '../../src/store/errors.ts'
import { createGroupCommit } from '../../src/store/postgres/group-commit.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { sql } from '../../src/store/sql/tag.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { createStorePlace, engines } from '../support/server.ts'
import { openTestStore } from '../support/store/stores.ts'
import {
  addChannels,
  CHANNELS,
  end,
  endAll,
  ids,
  liveIds,
  newId,
  retitle,
  start,
  useTroubledServer,
} from './group-commit.ts'

/** How often two nodes change all channels at the same time. */
const ROUNDS = 20

/** Transactions that an engine has given up and repeated. */
function countReruns(engine: Engine): number {
  const metrics = new Metrics()
  engine.measure(metrics)
  const [, count] = /^strand_postgres_reruns_total (\d+)$/m.exec(exposition(metrics.families)) ?? []
  return Number(count)
}

async function expectWholeAudit(store: Store): Promise<void> {
  expect(await store.audit.verify()).not.toHaveProperty('flaw')
}

for (const engine of engines) {
  describe(`a group of starts and ends, on ${engine}`, () => {
    let opened: Awaited<ReturnType<typeof openTestStore>>
    let store: Store
    beforeAll(async () => {
      opened = await openTestStore(engine)
      store = opened.store
      await addChannels(store)
    })
    afterAll(() => opened.close())

    test('is one transaction with one place in the feed for many, and an audit record for each', async () => {
      const before = (await store.feed.head()).seq
      await Promise.all(ids.map(id => start(store, id)))
      await endAll(store)
      const entries = await store.feed.after(before, 1000)
      expect(entries.map(entry => entry.seq)).toEqual(entries.map((_, n) => before + 1 + n))
      expect(entries).toHaveLength(2 * CHANNELS)
      // Entries of one transaction have the same nonce. SQLite writes those of each command.
      const transactions = new Set(entries.map(entry => entry.nonce)).size
      if (engine === 'postgres') expect(transactions).toBeLessThan(10)
      await expectWholeAudit(store)
    })

    test('takes changes of channels too, after the start and before the end of their own stream', async () => {
      const before = (await store.feed.head()).seq
      await Promise.all(
        ids.flatMap(id => [start(store, id), retitle(store, id, `title of ${id}`), end(store, id)]),
      )
      const entries = await store.feed.after(before, 1000)
      const titles = Map.groupBy(
        entries.flatMap(({ change }) =>
          change.kind === 'stream'
            ? [{ id: change.stream.user_id, shown: change.stream.title }]
            : change.kind === 'end'
              ? [{ id: change.user_id, shown: 'end' }]
              : [],
        ),
        ({ id }) => id,
      )
      for (const id of ids)
        expect(titles.get(id)?.map(({ shown }) => shown)).toEqual(['', `title of ${id}`, 'end'])
      if (engine === 'postgres') expect(new Set(entries.map(entry => entry.nonce)).size).toBeLessThan(10)
      await expectWholeAudit(store)
    })

    test.skipIf(engine === 'sqlite')('locks the channels in one order, whichever came first', async () => {
      const options = { connections: 3, pooled: false }
      const nodes = await Promise.all(
        [0, 1].map(() => openPostgresEngine(opened.databaseUrl as string, options)),
      )
      const stores = nodes.map(createStore)
      for (let n = 0; n < ROUNDS; n++)
        await Promise.all(
          stores.flatMap((each, node) =>
            (node === 0 ? ids : ids.toReversed()).map(id =>
              retitle(each, id, `by node ${node} in round ${n}`),
            ),
          ),
        )
      const reruns = nodes.map(countReruns)
      expect(reruns.reduce((sum, each) => sum + each)).toBeLessThan(ROUNDS / 2)
      for (const each of stores) await each.close()
    })

    test('leaves the others committed if one fails, and nothing of that one', async () => {
      const taken = newId()
      await start(store, '1', taken)
      await end(store, '1')
      const results = await Promise.allSettled(
        ids.map(id => (id === '7' ? start(store, id, taken) : start(store, id))),
      )
      const failed = results.filter(result => result.status === 'rejected')
      expect(failed.map(({ reason }) => reason)).toEqual([expect.any(Conflict)])
      expect(await liveIds(store)).toEqual(new Set(ids.filter(id => id !== '7')))
      expect((await store.videos.find(taken))?.user_id).toBe('1')
      await expectWholeAudit(store)
      await end(store, '7')
      await endAll(store)
    })

    test('leaves the others committed if some are refused', async () => {
      const [none, notLive, ...others] = await Promise.all([
        start(store, '999'),
        end(store, '8'),
        ...ids.filter(id => id !== '8').map(id => start(store, id)),
      ])
      expect([none, notLive]).toEqual([refuse('not_found', 'channel', '999'), refuse('not_live', 'user8')])
      expect(others.filter(isRefusal)).toEqual([])
      expect(await liveIds(store)).toEqual(new Set(ids.filter(id => id !== '8')))
      await endAll(store)
    })

    test('runs what is about one channel in turn', async () => {
      const before = (await store.feed.head()).seq
      await Promise.all(
        ids
          .slice(0, 4)
          .flatMap(id => Array.from({ length: 10 }, (_, n) => (n % 2 ? end(store, id) : start(store, id)))),
      )
      const running = new Map<string, string>()
      for (const { change } of await store.feed.after(before, 1000)) {
        if (change.kind === 'stream') {
          expect(running.get(change.stream.user_id) ?? change.stream.id).toBe(change.stream.id)
          running.set(change.stream.user_id, change.stream.id)
        } else if (change.kind === 'end') {
          expect(running.get(change.user_id)).toBe(change.stream_id)
          running.delete(change.user_id)
        }
      }
      expect(await liveIds(store)).toEqual(new Set(running.keys()))
      await endAll(store)
    })
  })
}

test.skipIf(!engines.includes('postgres'))(
  'a group behind a pooler, without prepared statements',
  async () => {
    const place = await createStorePlace('postgres')
    const options = { connections: 5, pooled: true }
    const store = createStore(await openPostgresEngine(place.databaseUrl as string, options))
    await addChannels(store)
    const before = (await store.feed.head()).seq
    await Promise.all(ids.map(id => start(store, id)))
    expect(await liveIds(store)).toEqual(new Set(ids))
    const results = await Promise.all([...ids.map(id => end(store, id)), start(store, '999')])
    expect(results.filter(isRefusal)).toEqual([refuse('not_found', 'channel', '999')])
    const entries = await store.feed.after(before, 1000)
    expect(new Set(entries.map(entry => entry.nonce)).size).toBeLessThan(10)
    await store.close()
    await place.remove()
  },
)

describe.skipIf(!engines.includes('postgres'))('a group on a server with trouble', () => {
  const server = useTroubledServer()

  const untilAvailable = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let turn = 0; ; turn++) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof Unavailable) || turn === 400) throw error
        await Bun.sleep(20)
      }
    }
  }

  test('does not wait for a channel that another transaction has locked; that one does', async () => {
    let late: Promise<unknown> | undefined
    await server.whileLocked(`select 1 from channels where user_id = '5' for update`, async () => {
      const all = ids.map(id => start(server.store, id))
      late = all[4]
      const others = await Promise.all(all.filter((_, index) => index !== 4))
      expect(others.filter(isRefusal)).toEqual([])
      expect(await liveIds(server.store)).toEqual(new Set(ids.filter(id => id !== '5')))
    })
    expect(await late).toMatchObject({ user_id: '5' })
    await endAll(server.store)
  })

  test('answers all with Unavailable if its connection dies, and applies nothing by halves', async () => {
    await server.whileLocked('select 1 from feed_head for update', async () => {
      const all = Promise.allSettled(ids.map(id => start(server.store, id)))
      await server.untilOneWaits()
      server.cable.cut()
      for (const result of await all)
        expect(result).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) })
    })
    server.cable.mend()
    const live = await untilAvailable(() => liveIds(server.store))
    expect([0, CHANNELS]).toContain(live.size)
    await untilAvailable(() => start(server.store, '1'))
    await endAll(server.store)
  })
})

test('commands that look up the same row each get a copy', async () => {
  const row = { id: '1', tags: '[]' }
  const combiner = new Combiner({ all: async <Row>() => [row] as Row[], run: async () => 0 })
  const lookup: Lookup<typeof row> = { column: 'id', select: sql`select id, tags from t`, by: sql`id` }
  const [[first], [second]] = await Promise.all([
    combiner.lookUp(lookup, ['1']),
    combiner.lookUp(lookup, ['1', '1']),
  ])
  Object.assign(first ?? {}, { tags: [] })
  expect(second).toEqual({ id: '1', tags: '[]' })
})

describe('the queue of groups', () => {
  const job = { name: 'startStream', args: {} } as const

  test('refuses what has waited too long, which never runs', async () => {
    const sizes: number[] = []
    const { promise: hanging, resolve: release } = Promise.withResolvers<void>()
    const groups = createGroupCommit(
      async jobs => {
        sizes.push(jobs.length)
        if (sizes.length <= 2) await hanging
        return jobs.map(() => undefined)
      },
      2,
      50,
    )
    // The first group hangs, and so does the second, which starts on another connection; the others wait in vain.
    const all = Array.from({ length: 7 }, () => groups.ask(job))
    const outcomes = Promise.allSettled(all)
    await expect(all[6]).rejects.toBeInstanceOf(Overloaded)
    release()
    const refused = (await outcomes).filter(({ status }) => status === 'rejected').length
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(7 - refused)
    expect(await groups.ask(job)).toBeUndefined()
  })

  test('a failure of a group fails its commands only', async () => {
    const groups = createGroupCommit(
      async jobs => {
        if (jobs.length > 1) throw new Unavailable('gone')
        return jobs.map(() => ({ result: 1, entries: [], announced: false }))
      },
      2,
      1000,
    )
    const results = await Promise.allSettled([groups.ask(job), groups.ask(job), groups.ask(job)])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  })
})
