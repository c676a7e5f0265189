import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import type { Key } from '../../src/contract/page.ts'
import { compareFound, gameSearchOf } from '../../src/domain/game-search.ts'
import { foldMissingNames } from '../../src/maintenance/fold-names.ts'
import { foundSortKey } from '../../src/store/queries/game-search.ts'
import { createStore } from '../../src/store/store.ts'
import { openFilled } from '../support/many-rows.ts'
import { createStorePlace, engines } from '../support/server.ts'

for (const engine of engines) {
  test(`a search of a long list on ${engine} reads it in steps, whole and in order`, async () => {
    const place = await createStorePlace(engine)
    const opened = await openFilled(place, 2)
    try {
      const { games } = createStore(opened)
      for (const query of ['game 1', 'ame 1', 'gam']) {
        const search = gameSearchOf(query)
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
      await opened.close()
      await place.remove()
    }
  })

  test(`a name that an earlier version wrote is found on ${engine} once it is folded`, async () => {
    const place = await createStorePlace(engine)
    const opened = await openFilled(place, 1000)
    try {
      const store = createStore(opened)
      const search = gameSearchOf('ÉCLAIR') ?? { text: '', words: [] }
      const found = async () => (await store.games.search(search, { first: 5, direction: 'forward' })).rows
      await store.commands.putGame({ id: '7', name: 'Éclair' })
      expect(await found()).toHaveLength(1)
      await writeAsBefore(
        place,
        "update games set name = 'E\u0301clair 2', name_folded = null where id = '7'",
      )
      expect(await found()).toEqual([])
      await foldMissingNames(store, () => false)
      expect((await found()).map(row => row.id)).toEqual(['7'])
    } finally {
      await opened.close()
      await place.remove()
    }
  })
}

/** A statement past the program, seen from the next turn of the event loop on. */
async function writeAsBefore(
  place: Awaited<ReturnType<typeof createStorePlace>>,
  statement: string,
): Promise<void> {
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
