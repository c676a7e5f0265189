import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import type { Engine } from '../../src/store/engine.ts'
import { Unavailable } from '../../src/store/errors.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { createStorePlace, type StorePlace } from '../support/server.ts'

const note = (name: string, value = '1') => ['setFact', { name, value }] as const

describe('the writer of SQLite', () => {
  let place: StorePlace | undefined
  let engine: Engine | undefined
  const open = async () => {
    place = await createStorePlace('sqlite')
    engine = await openSqliteEngine(`${place.folder}/strand.db`)
    return { engine, file: `${place.folder}/strand.db` }
  }
  afterEach(async () => {
    await engine?.close()
    await place?.remove()
  })

  test('a lock that another process holds makes writes unavailable, not wrong, and they work again afterwards', async () => {
    const { engine, file } = await open()
    const other = new Database(file)
    other.run('begin immediate')
    const outcome = await engine.run(...note('while locked')).catch((error: unknown) => error)
    expect(outcome).toBeInstanceOf(Unavailable)
    other.run('rollback')
    other.close()
    expect(await engine.run(...note('afterwards'))).toMatchObject({ entries: [] })
  }, 30_000)

  test('two processes that write without a pause both get their turns', async () => {
    const { engine, file } = await open()
    const script = `
      import { openSqliteEngine } from './src/store/sqlite/sqlite.ts'
      const engine = await openSqliteEngine(process.argv[1])
      await Promise.all(Array.from({ length: 8 }, async (_, n) => {
        for (let round = 0; round < 100; round++) {
          await engine.run('setFact', { name: 'there ' + n, value: String(round) })
        }
      }))
      await engine.close()
      process.exit(0)`
    const child = Bun.spawn([process.execPath, '-e', script, file], { stderr: 'inherit' })
    let running = true
    void child.exited.then(() => {
      running = false
    })
    let rounds = 0
    await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        while (running) {
          await engine.run(...note(`here ${n}`, String(rounds)))
          rounds += 1
        }
      }),
    )
    // A command that does not get its turn within its deadline is refused, on either side.
    expect(await child.exited).toBe(0)
    expect(rounds).toBeGreaterThan(0)
  }, 30_000)

  test('commands that fail in a group fail alone, and the others happen once', async () => {
    const { engine, file } = await open()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) =>
        n % 10 === 3
          ? engine.run('runSteps', { steps: [note(`half ${n}`), ['putGame', { id: '77' }]] })
          : engine.run(...note(`whole ${n}`)),
      ),
    )
    expect(outcomes.map(each => each.status === 'fulfilled')).toEqual(
      Array.from({ length: 40 }, (_, n) => n % 10 !== 3),
    )
    const reader = new Database(file)
    const names = reader.query('select name from facts order by name').values().flat()
    reader.close()
    expect(names.length).toBe(36)
    expect(names.every(name => String(name).startsWith('whole'))).toBe(true)
  })

  test('a command that cannot be serialized fails alone', async () => {
    const { engine } = await open()
    const outcomes = await Promise.allSettled([
      engine.run(...note('before')),
      engine.run('setFact', { name: 'large', value: 1n }),
      engine.run(...note('behind')),
    ])
    expect(outcomes.map(each => each.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  test('a file that cannot grow makes writes unavailable and loses nothing that was there', async () => {
    const { engine, file } = await open()
    await engine.run(...note('before'))
    // The limit that a shell sets with ulimit -f stands in for a full disk: the file may not grow past 64 KiB more.
    const script = `
      import { openSqliteEngine } from './src/store/sqlite/sqlite.ts'
      const engine = await openSqliteEngine(process.argv[1])
      const outcomes = []
      for (let n = 0; n < 4; n++) {
        const args = { name: 'large ' + n, value: 'x'.repeat(3_000_000) }
        outcomes.push(await engine.run('setFact', args).then(() => 'done', error => error.name))
      }
      process.stdout.write(JSON.stringify(outcomes))
      process.exit(0)`
    await engine.close()
    const child = Bun.spawnSync([
      'bash',
      '-c',
      'trap "" XFSZ; ulimit -f 4000; exec "$0" -e "$1" "$2"',
      process.execPath,
      script,
      file,
    ])
    const outcomes = JSON.parse(child.stdout.toString()) as string[]
    expect(outcomes).toContain('Unavailable')
    expect(new Set(outcomes).difference(new Set(['done', 'Unavailable'])).size).toBe(0)
    const reader = new Database(file)
    expect(reader.query('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
    const kept = reader.query("select count(*) as n from facts where name like 'large %'").get() as {
      n: number
    }
    expect(kept.n).toBe(outcomes.filter(outcome => outcome === 'done').length)
    expect(reader.query("select value from facts where name = 'before'").get()).toEqual({ value: '1' })
    reader.close()
  })

  test('what waits when the store is closed is still written, and the log is normalized into the file', async () => {
    const { engine, file } = await open()
    const waiting = Array.from({ length: 600 }, (_, n) => engine.run(...note(`fact ${n}`)))
    await engine.close()
    await Promise.all(waiting)
    expect(existsSync(`${file}-wal`)).toBe(false)
    const reader = new Database(file)
    expect(reader.query('select count(*) as n from facts').get()).toEqual({ n: 600 })
    reader.close()
    const outcome = await engine.run(...note('too late')).catch((error: unknown) => error)
    expect(outcome).toBeInstanceOf(Unavailable)
  })
})
