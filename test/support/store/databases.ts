/** Databases for child processes that share a store. */
import { createStorePlace, engines, type StorePlace } from '../server.ts'

export const hasPostgres = engines.includes('postgres')

const places: StorePlace[] = []

/** The environment of a process on a new, empty store. */
export async function onNewDatabase(): Promise<Record<string, string>> {
  const place = await createStorePlace('postgres', { empty: true })
  places.push(place)
  return { DATABASE_URL: place.databaseUrl ?? '', STRAND_DATABASE_CONNECTIONS: '4' }
}

export async function removeDatabases(): Promise<void> {
  for (const place of places.splice(0)) await place.remove()
}
