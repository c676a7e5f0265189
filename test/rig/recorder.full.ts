/** The library that records what a store does to its disk. */
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Disk } from '../../rig/power/disk.ts'
import { parseRecording } from '../../rig/power/recording.ts'
import { SeededRandom } from '../../src/kit/random.ts'
import { compilePreload } from '../../tools/preload.ts'

describe('the recorder', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'strand-recorder-')))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const canCompile = process.platform === 'linux' && Boolean(process.env.TEST_CC)
  const source = join(import.meta.dir, '..', '..', 'rig', 'power', 'recorder.c')
  const program = `
    import { Database } from 'bun:sqlite'
    const db = new Database(process.argv[1], { create: true })
    db.run('pragma journal_mode = wal')
    db.run('pragma synchronous = full')
    db.run('create table t (n integer primary key, text text)')
    for (let n = 0; n < 200; n++) db.run('insert into t (text) values (?)', ['x'.repeat(n * 10)])
    db.run('pragma wal_checkpoint(restart)')
    for (let n = 0; n < 20; n++) db.run('delete from t where n = ?', [n])
    process.kill(process.pid, 'SIGKILL')
  `

  test.skipIf(!canCompile)(
    'what SQLite writes is recorded: replayed as a whole it is the file, byte for byte',
    async () => {
      const library = await compilePreload(source, folder)
      const data = join(folder, 'data')
      mkdirSync(data)
      const log = join(folder, 'recording')
      const child = Bun.spawn([process.execPath, '-e', program, join(data, 'a.db')], {
        env: { ...process.env, LD_PRELOAD: library, RECORDER_FOLDER: data, RECORDER_LOG: log },
        stderr: 'inherit',
      })
      await child.exited
      const events = parseRecording(readFileSync(log))
      const disk = new Disk(events)
      disk.advance(events.length)
      const image = disk.image('everything kept', new SeededRandom(1))
      expect([...image.keys()].toSorted()).toEqual(['a.db', 'a.db-wal'])
      for (const [name, bytes] of image)
        expect(Buffer.from(bytes).equals(readFileSync(join(data, name)))).toBe(true)
      // At least one for each of the 222 transactions.
      expect(events.filter(each => each.kind === 'sync').length).toBeGreaterThan(222)
      // Nothing but the last answer's sync is behind the last commit: all of it is safe.
      const kept = disk.image('nothing kept', new SeededRandom(1))
      expect(Buffer.from(kept.get('a.db-wal') ?? []).equals(readFileSync(join(data, 'a.db-wal')))).toBe(true)
    },
  )
})
