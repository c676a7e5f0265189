import { describe, expect, test } from 'bun:test'
import { canFailDisk, type DiskFault } from '../support/cli/failing-disk.ts'
import {
  askFor,
  cutOff,
  failAndHeal,
  onTrial,
  pageOfFirstGroup,
  readFromFileOnly,
  stopMeanwhile,
  strikes,
  TEST_MILLISECONDS,
} from './scenarios.ts'

describe.skipIf(!canFailDisk)('while the disk fails', () => {
  for (const [name, strike] of Object.entries(strikes)) {
    test(
      `503 while ${name}, then everything works again and nothing acknowledged is lost`,
      async () => {
        expect(await onTrial(trial => failAndHeal(trial, strike))).toEqual([])
      },
      TEST_MILLISECONDS,
    )
  }

  const stops: Readonly<Record<string, DiskFault>> = {
    'reads fail': { reads: 'EIO' },
    'writes fail': { writes: 'EIO' },
    'fsync stalls': { syncs: 'stall' },
  }
  for (const [name, fault] of Object.entries(stops)) {
    test(
      `SIGTERM ends the process while ${name}`,
      async () => {
        expect(await onTrial(trial => stopMeanwhile(trial, fault))).toEqual([])
      },
      TEST_MILLISECONDS,
    )
  }
})

describe.skipIf(!canFailDisk)('a page that cannot be read', () => {
  test(
    'is a 503 for those who need it and nothing for others, and the log reports it',
    () =>
      onTrial(async trial => {
        const file = await readFromFileOnly(trial)
        const { page, ids } = pageOfFirstGroup(file, trial)
        trial.disk.set({ badPage: page })
        const answer = await askFor(trial, ids)
        expect(answer).toMatchObject({ status: 503, retryAfter: true })
        expect(trial.disk.struck.reads).toBeGreaterThan(0)
        expect((await askFor(trial, trial.groups.at(-1)?.ids ?? [])).status).toBe(200)
        expect((await trial.caller.ask('directory', 'GET', '/helix/streams')).status).toBe(200)
        expect(trial.log).toMatch(/"reason":"SQLITE_(CORRUPT|IOERR)/)
        trial.disk.set({})
        expect((await askFor(trial, ids)).status).toBe(200)
      }),
    TEST_MILLISECONDS,
  )
})

describe('a file that was cut off under a running server', () => {
  test(
    'is a 503 and not the end of the process, and is read again when it is whole',
    async () => {
      expect(await onTrial(cutOff)).toEqual([])
    },
    TEST_MILLISECONDS,
  )
})
