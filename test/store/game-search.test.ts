import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import type { Key } from '../../src/contract/page.ts'
import { compareFound, parseGameSearch } from '../../src/domain/search/game-search.ts'
import { foundSortKey } from '../../src/store/queries/game-search.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { openStore } from '../support/store/stores.ts'

for (const engine of engines) {
  test(`a search of a long list on ${engine} reads it in steps, whole and in order`, async () => {
    const place = await createStorePlace(engine)
    const store = await openStore(place, 4)
    try {
      const { games } = store
      const numbers =
        engine === 'sqlite'
          ? ['with recursive n (n) as (select 1 union all select n + 1 from n where n < 3000)', 'n']
          : ['', 'generate_series(1, 3000) as n (n)']
      // Half of them have the same name.
      await writeAsBefore(
        place,
        `insert into games (id, name, name_normalized) ${numbers[0]}
         select cast(n as text), 'Game ' || number, 'game ' || number
         from (select n, case when n % 2 = 0 then 1 else 1 + n % 1000 end as number from ${numbers[1]}) as numbered`,
      )
      for (const query of ['game 1', 'ame 1', 'gam']) {
        const search = parseGameSearch(query)
        if (search === undefined) throw new Error('nothing to look for')
        const found: { readonly id: string; readonly key: Key }[] = []
        let from: Key | undefined
        for (let pages = 0; pages < 100; pages++) {
          const page = await games.search(search, { first: 700, direction: 'forward', ...(from && { from }) })
          found.push(...page.rows.map(row => ({ id: row.id, key: foundSortKey(search)(row) })))
          from = found.at(-1)?.key
          if (!page.more) break
        }
        expect(found.length).toBeGreaterThan(1500)
        expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
        expect(found).toEqual(found.toSorted((a, b) => compareFound(a.key, b.key)))
      }
    } finally {
      await store.close()
      await place.remove()
    }
  })
}

/** A statement past the program, seen from the next turn of the event loop on. */
async function writeAsBefore(place: StorePlace, statement: string): Promise<void> {
  if (place.databaseUrl === undefined) {
    const file = new Sqlite(`${place.folder}/strand.db`)
    file.run(statement)
    file.close()
    return Bun.sleep(1)
  }
  const client = new SQL(place.databaseUrl, { max: 1 })
  await client.unsafe(statement)
  await client.close()
}
