/** A read of the disk that takes long stops the process, and the health listener reports it in the meantime. */
import { describe, expect, test } from 'bun:test'
import { canFailDisk } from '../support/cli/failing-disk.ts'
import { freePort } from '../support/store/postgres.ts'
import { askFor, onTrial, readFromFileOnly, TEST_MILLISECONDS } from './scenarios.ts'

/** How long a health check waits at most. */
const PROBE_MILLISECONDS = 1000

describe.skipIf(!canFailDisk)('a read that stalls', () => {
  test(
    'health is 200 and readiness 503 while it lasts, and everything works afterwards',
    async () => {
      const health = `127.0.0.1:${await freePort()}`
      const ask = async (path: string) => {
        const answer = await fetch(`http://${health}${path}`, {
          signal: AbortSignal.timeout(PROBE_MILLISECONDS),
        })
        return answer.status
      }
      await onTrial(
        async trial => {
          await readFromFileOnly(trial)
          expect([await ask('/healthz'), await ask('/readyz')]).toEqual([200, 200])
          trial.disk.set({ reads: 'stall' })
          const ids = trial.groups[0]?.ids ?? []
          const waiting = askFor(trial, ids)
          expect(await trial.until(() => trial.disk.struck.reads > 0)).toBe(true)
          expect(await trial.until(async () => (await ask('/readyz')) === 503)).toBe(true)
          expect(await ask('/healthz')).toBe(200)
          trial.disk.set({})
          await waiting
          expect(await trial.until(async () => (await ask('/readyz')) === 200)).toBe(true)
          expect((await askFor(trial, ids)).status).toBe(200)
        },
        { environment: { STRAND_HEALTH_LISTEN: health } },
      )
    },
    TEST_MILLISECONDS,
  )
})
