import { Unavailable } from '../../../src/store/errors.ts'
import { openPostgresEngine } from '../../../src/store/postgres/postgres.ts'
import { openSqliteEngine } from '../../../src/store/sqlite/sqlite.ts'
import { createStore, type Store } from '../../../src/store/store.ts'
import { createStorePlace, type EngineName, type StorePlace } from '../server.ts'

/** The store of a place, without a server around it. */
export async function openStore({ folder, databaseUrl }: StorePlace, connections = 5): Promise<Store> {
  return createStore(
    databaseUrl === undefined
      ? await openSqliteEngine(`${folder}/strand.db`)
      : await openPostgresEngine(databaseUrl, { connections, pooled: false }),
  )
}

/** A separate store, without a server around it. */
export async function openTestStore(
  engine: EngineName,
): Promise<{ store: Store; databaseUrl: string | undefined; close(): Promise<void> }> {
  const place = await createStorePlace(engine)
  const store = await openStore(place)
  return {
    store,
    databaseUrl: place.databaseUrl,
    close: async () => {
      await store.close()
      await place.remove()
    },
  }
}

/** Asks again while the store has too much to do, as callers do: on a busy machine it may. */
export async function retryWhileUnavailable<T>(command: () => T | Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await command()
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
    }
  }
}

/** The setting for a server that is to serve a store with such keys. */
export const ANY_MASTER_KEYS = `test:${Buffer.alloc(32, 1).toString('base64')}`

/** A stream key for tests that look at other things. */
export const anyStreamKey = (name: string) => ({
  key_id: 'test',
  sealed: 'sealed',
  lookup_hash: `hash of ${name}`,
})
