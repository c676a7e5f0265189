/** A program that reads for long keeps the write-ahead log from being normalized into the file; afterwards it is cut back. */
import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { MAX_LOG_BYTES } from '../../src/store/sqlite/sqlite-connection.ts'
import { createStorePlace } from '../support/server.ts'

const VALUE = 'x'.repeat(4_000_000)
const ENOUGH = MAX_LOG_BYTES + 30_000_000

test('the log is cut back when another process no longer reads an old state, without a write', async () => {
  const place = await createStorePlace('sqlite')
  const file = `${place.folder}/strand.db`
  const engine = await openSqliteEngine(file)
  const logBytes = () => statSync(`${file}-wal`).size
  const note = (n: number) => engine.run('setFact', { name: `large ${n}`, value: VALUE })
  // Another process holds a read transaction until it is asked to let go.
  const script = `
    import { Database } from 'bun:sqlite'
    const other = new Database(process.argv[1], { readonly: true })
    other.run('begin')
    other.query('select count(*) from facts').get()
    process.stdout.write('reading')
    await new Response(Bun.stdin.stream()).text()
    other.run('commit')
    process.exit(0)`
  const reader = Bun.spawn([process.execPath, '-e', script, file], { stdin: 'pipe', stdout: 'pipe' })
  try {
    await note(0)
    await reader.stdout.getReader().read()
    for (let n = 1; logBytes() < ENOUGH; n++) await note(n)
    reader.stdin.end()
    expect(await reader.exited).toBe(0)
    for (const end = performance.now() + 20_000; logBytes() > MAX_LOG_BYTES; await Bun.sleep(20)) {
      if (performance.now() > end) throw new Error(`the log still has ${logBytes()} bytes`)
    }
  } finally {
    reader.kill()
    await engine.close()
    await place.remove()
  }
})
