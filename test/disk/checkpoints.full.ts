/** No write waits for a checkpoint, however large the log is and however long it takes. */
import { describe, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { sql } from '../../src/store/sql/tag.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { MAX_LOG_BYTES } from '../../src/store/sqlite/sqlite-connection.ts'
import { canFailDisk } from '../support/cli/failing-disk.ts'
import { createStorePlace } from '../support/server.ts'
import { onTrial, TEST_MILLISECONDS } from './scenarios.ts'

const LARGE = 'x'.repeat(4_000_000)
const MANY_BYTES = 156_000_000

describe.skipIf(!canFailDisk)('a disk on which checkpoints stall', () => {
  test(
    'every write is acknowledged, and nothing is lost',
    () =>
      onTrial(async trial => {
        const { caller, world } = trial
        const token = world.operatorToken
        const logBytes = () => statSync(`${trial.data}/strand.db-wal`).size
        const write = async (n: number) => {
          const path = `/control/channels/${world.churning[n % world.churning.length]}/stream`
          return (await caller.ask('stream', n % 2 === 0 ? 'PUT' : 'DELETE', path, { token, body: {} }))
            .status
        }
        trial.disk.set({ copies: 'stall' })
        const failed: number[] = []
        // More than checkpoints wait for, and then some more while one is stalled.
        for (let n = 0, left = 200; left > 0; n++) {
          const status = await write(n)
          if (status >= 500) failed.push(status)
          if (trial.disk.struck.writes > 0 || logBytes() > MAX_LOG_BYTES) left -= 1
        }
        expect(trial.disk.struck.writes).toBeGreaterThan(0)
        expect(failed).toEqual([])
        trial.disk.set({})
        await trial.stop('SIGKILL')
        await trial.start()
        expect(await write(0)).toBeLessThan(500)
      }),
    TEST_MILLISECONDS,
  )
})

describe('the end of a long read', () => {
  test(
    'no write fails or is late, and the log starts again while writes go on',
    async () => {
      const place = await createStorePlace('sqlite')
      const file = `${place.folder}/strand.db`
      const engine = await openSqliteEngine(file)
      const logBytes = () => statSync(`${file}-wal`).size
      const note = (name: string, value: string) => engine.run('setFact', { name, value })
      try {
        const released = Promise.withResolvers<void>()
        const reading = engine.snapshot(async db => {
          await db.get(sql`select count(*) as facts from facts`)
          await released.promise
        })
        for (let n = 0; logBytes() < MANY_BYTES; n++) await note(`large ${n}`, LARGE)
        released.resolve()
        await reading
        // Rejected if one takes longer than its deadline.
        for (let n = 0; logBytes() > MAX_LOG_BYTES; n++) await note(`small ${n % 100}`, String(n))
        expect(engine.unavailableReason()).toBeUndefined()
      } finally {
        await engine.close()
        await place.remove()
      }
    },
    TEST_MILLISECONDS,
  )
})
