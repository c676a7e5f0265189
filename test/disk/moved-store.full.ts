/** The data folder is deleted, moved or replaced while the server runs: it must notice, and acknowledge nothing any more. */
import { describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { migrateSqlite } from '../../src/store/sqlite/sqlite-migrate.ts'
import { isOk, moveStore, onTrial, TEST_MILLISECONDS, wrongAnswers } from './scenarios.ts'

/** Every file of a folder with what is in it. */
const contentsOf = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map(name => [name, Bun.hash(readFileSync(join(folder, name)))]),
  )

describe('the data folder under a running server', () => {
  test(
    '503 once it is deleted, and the log states what to do',
    () =>
      onTrial(async trial => {
        expect(await moveStore(trial, () => rmSync(trial.data, { recursive: true }))).toEqual([])
        const reported =
          /"level":"error".*strand\.db[-a-z]* was deleted, moved or replaced .*put the original back, or restart/
        expect(await trial.until(() => reported.test(trial.log))).toBe(true)
        // Memory does not need it.
        expect((await trial.caller.ask('directory', 'GET', '/helix/streams')).status).toBe(200)
        expect(await trial.stop()).toBe(0)
      }),
    TEST_MILLISECONDS,
  )

  test(
    '/readyz is 503 while it is elsewhere, also without writes',
    () =>
      onTrial(async trial => {
        const elsewhere = `${trial.data}-elsewhere`
        renameSync(trial.data, elsewhere)
        expect(await trial.until(async () => !(await trial.isReady()))).toBe(true)
        renameSync(elsewhere, trial.data)
        expect(await trial.until(() => trial.isReady())).toBe(true)
      }),
    TEST_MILLISECONDS,
  )

  test(
    '503 while it is elsewhere; when it is back everything works, and nothing acknowledged is lost',
    () =>
      onTrial(async trial => {
        const elsewhere = `${trial.data}-elsewhere`
        expect(await moveStore(trial, () => renameSync(trial.data, elsewhere))).toEqual([])
        renameSync(elsewhere, trial.data)
        const back = performance.now()
        const isWell = () =>
          trial.askedSince(back, 'update').some(isOk) &&
          trial.looks.some(look => look.at >= back && look.isReady)
        expect(await trial.until(isWell)).toBe(true)
        expect(await trial.endLoad()).toEqual([])
        expect(wrongAnswers(trial.caller.asked)).toEqual([])
      }),
    TEST_MILLISECONDS,
  )

  test(
    '503 once another store is in its place, which is left alone until the server is restarted',
    () =>
      onTrial(async trial => {
        const another = `${trial.data}-another`
        mkdirSync(another)
        await migrateSqlite(join(another, 'strand.db'))
        cpSync(join(trial.data, 'master-keys'), join(another, 'master-keys'))
        const before = contentsOf(another)
        const replace = () => {
          renameSync(trial.data, `${trial.data}-elsewhere`)
          renameSync(another, trial.data)
        }
        expect(await moveStore(trial, replace)).toEqual([])
        expect(await trial.stop()).toBe(0)
        expect(contentsOf(trial.data)).toEqual(before)
        await trial.start()
        expect(await trial.isReady()).toBe(true)
      }),
    TEST_MILLISECONDS,
  )

  test(
    '503 once the log beside the store is deleted, and what it held is saved when the server stops',
    () =>
      onTrial(async trial => {
        expect(await moveStore(trial, () => rmSync(join(trial.data, 'strand.db-wal')))).toEqual([])
        expect(await trial.stop()).toBe(0)
        await trial.start()
        expect(await trial.endLoad()).toEqual([])
      }),
    TEST_MILLISECONDS,
  )
})
