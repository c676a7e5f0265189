import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { createStore } from '../../src/store/store.ts'
import { createStorePlace, engines } from '../support/server.ts'

const LARGE = 400_000

for (const engine of engines) {
  test(`large entries of the feed are read a few at a time, on ${engine}`, async () => {
    const { folder, databaseUrl, remove } = await createStorePlace(engine)
    const file = `${folder}/strand.db`
    const store = createStore(
      databaseUrl === undefined
        ? await openSqliteEngine(file)
        : await openPostgresEngine(databaseUrl, { connections: 2, pooled: false }),
    )
    // Ten large ones between small ones; one is larger than a read may be.
    const sizes = [10, ...Array(10).fill(LARGE), 10, 3 * LARGE, 10]
    const inserts = sizes.map(
      (size, index) =>
        `insert into feed (seq, at, nonce, previous, entry) values (${index + 1}, 'now', 'n', 'n', '"${'x'.repeat(size)}"')`,
    )
    if (databaseUrl === undefined) {
      const connection = new Database(file)
      for (const insert of inserts) connection.run(insert)
      connection.close()
    } else {
      const client = new SQL(databaseUrl, { max: 1 })
      for (const insert of inserts) await client.unsafe(insert)
      await client.close()
    }
    await store.commands.setFact({ name: 'a command', value: 'renews what reads see' })
    const reads: number[][] = []
    for (let seq = 0; seq < sizes.length; ) {
      const read = (await store.feed.after(seq, 500)).map(entry => entry.seq)
      reads.push(read)
      seq = read.at(-1) ?? sizes.length
    }
    expect(reads.flat()).toEqual(sizes.map((_, index) => index + 1))
    expect(Math.max(...reads.map(read => read.length))).toBe(4)
    expect((await store.feed.after(0, 2)).map(entry => entry.seq)).toEqual([1, 2])
    await store.close()
    await remove()
  })
}
