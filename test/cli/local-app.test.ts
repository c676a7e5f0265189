/** What a verb on a store reads and starts: no more than its request needs, however much is live. */
import { expect, test } from 'bun:test'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { type LocalApp, openLocalApp } from '../../src/server/local-app.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { ANY_MASTER_KEYS } from '../support/store/stores.ts'

const TOKEN = 'an-operator-token-for-this-test'

async function withLocalApp(place: StorePlace, work: (app: LocalApp) => Promise<void>): Promise<void> {
  const config = readConfig({}, undefined, {
    STRAND_DATA: place.folder,
    STRAND_MASTER_KEYS: ANY_MASTER_KEYS,
    STRAND_OPERATOR_TOKEN: TOKEN,
    ...(place.databaseUrl && { DATABASE_URL: place.databaseUrl }),
  })
  const app = await openLocalApp({ config, log: createLog({ level: 'error', readable: true }) })
  try {
    await work(app)
  } finally {
    await app.close()
  }
}

async function call(app: LocalApp, method: string, path: string, body?: object) {
  const token = path.startsWith('/control/') ? { Authorization: `Bearer ${TOKEN}` } : {}
  const headers = { ...token, 'Content-Type': 'application/json' }
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  const response = await app.answer(new Request(`http://localhost${path}`, init))
  const { data = [] } = (await response.json()) as { data?: { user_login: string }[] }
  return { status: response.status, data }
}

for (const engine of engines)
  test(`200 verbs read the store, and the directory is loaded for the first that needs it, on ${engine}`, async () => {
    const place = await createStorePlace(engine)
    try {
      await withLocalApp(place, async app => {
        await call(app, 'PUT', '/control/users/12', { login: 'lunar_otter' })
        expect((await call(app, 'PUT', '/control/channels/12/stream', {})).status).toBe(200)
      })
      await withLocalApp(place, async app => {
        const { directory } = app.services
        const { data } = await call(app, 'GET', '/control/users')
        expect([data.length, directory.size]).toEqual([1, 0])
        // Longer than the pause between two reads of the feed.
        await Bun.sleep(400)
        expect(directory.size).toBe(0)
        for (const path of ['/control/streams', '/helix/streams']) {
          const live = await call(app, 'GET', path)
          expect([live.data.map(stream => stream.user_login), directory.size]).toEqual([['lunar_otter'], 1])
        }
        await call(app, 'PUT', '/control/users/13', { login: 'brave_newt' })
        await call(app, 'PUT', '/control/channels/13/stream', {})
        expect((await call(app, 'GET', '/helix/streams')).data).toHaveLength(2)
      })
    } finally {
      await place.remove()
    }
  })

test('200 the writer of the embedded store is started by the first write, and several wait for it', async () => {
  const place = await createStorePlace('sqlite')
  try {
    await withLocalApp(place, async app => {
      expect(app.services.store.unavailableReason()).toBeUndefined()
      const users = Array.from({ length: 5 }, (_, n) =>
        call(app, 'PUT', `/control/users/${20 + n}`, { login: `swimmer_${n}` }),
      )
      expect((await Promise.all(users)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
      expect((await call(app, 'GET', '/control/users')).data).toHaveLength(5)
    })
  } finally {
    await place.remove()
  }
})
