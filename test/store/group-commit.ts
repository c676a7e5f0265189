/** Starts, changes and ends of streams on many channels, and a server with trouble. */
import { afterAll, beforeAll } from 'bun:test'
import { SQL } from 'bun'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { Cable } from '../support/proxies/cable.ts'
import { createStorePlace, type StorePlace } from '../support/server.ts'
import { anyStreamKey } from '../support/store/stores.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
export const CHANNELS = 40
const author = {
  actor: 'operator',
  operation: 'StartStream',
  chain: 'operator',
  at: '2026-03-01T12:00:00.000Z',
}
export const ids = Array.from({ length: CHANNELS }, (_, n) => String(n + 1))

export const addChannels = (store: Store) =>
  store.commands.runSteps({
    steps: ids.map(id => ['putUser', { id, login: `user${id}`, stream_key: anyStreamKey(id), now: NOW }]),
  })

let last = 1000
export const newId = () => String(++last)
export function start(store: Store, user_id: string, video_id = newId()) {
  const stream_id = newId()
  return store
    .as(author)
    .commands.startStream({ user_id, stream_id, video_id, started_at: '2026-03-01T12:00:00Z' })
}

export const end = (store: Store, user_id: string) =>
  store.as(author).commands.endStream({ user_id, now: NOW })
export const retitle = (store: Store, user_id: string, title: string) =>
  store.as(author).commands.changeChannel({ user_id, title, video_id: newId() })
export const endAll = (store: Store) => Promise.all(ids.map(id => end(store, id)))
export const liveIds = async (store: Store) =>
  new Set((await store.streams.live()).map(stream => stream.user_id))

/** A store behind a cable, and a connection past it. */
export function useTroubledServer() {
  let place: StorePlace
  let cable: Cable
  let store: Store
  let direct: SQL
  beforeAll(async () => {
    place = await createStorePlace('postgres')
    const url = new URL(place.databaseUrl as string)
    cable = await Cable.to(url.hostname, Number(url.port))
    url.port = String(cable.port)
    store = createStore(await openPostgresEngine(url.href, { connections: 5, pooled: false }))
    direct = new SQL(place.databaseUrl as string, { max: 1 })
    await addChannels(store)
  })
  afterAll(async () => {
    cable.mend()
    await store.close()
    await cable.close()
    await direct.close()
    await place.remove()
  })
  return {
    get store() {
      return store
    },
    get cable() {
      return cable
    },
    /** Calls `work` while another transaction has locked what the statement locks. */
    whileLocked: (statement: string, work: () => Promise<void>) =>
      direct.begin(async tx => {
        await tx.unsafe(statement)
        await work()
      }),
    untilOneWaits: async () => {
      const observer = new SQL(place.databaseUrl as string, { max: 1 })
      const query = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      for (let turn = 0; turn < 400 && (await observer.unsafe(query)).length === 0; turn++) await Bun.sleep(5)
      await observer.close()
    },
  }
}
