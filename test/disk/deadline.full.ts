/**
 * A write that the store does not answer is answered 503 at its deadline, on both engines. On SQLite it may still happen
 * later; on PostgreSQL only its commit may, and a statement before that ends with the deadline.
 */
import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { canFailDisk } from '../support/cli/failing-disk.ts'
import { scrape } from '../support/server/scrape.ts'
import { createStorePlace, engines } from '../support/server.ts'
import { onTrial, TEST_MILLISECONDS } from './scenarios.ts'
import type { DiskTrial } from './trial.ts'

/** Longer than the deadline. */
const STALL_SECONDS = 6.5
/** The server's deadline is 3 s; what comes later than this did not keep it. */
const LATEST_MILLISECONDS = 6000

async function goLive(trial: DiskTrial, id: string) {
  const token = trial.world.operatorToken
  const answer = await trial.caller.ask('stream', 'PUT', `/control/channels/${id}/stream`, {
    token,
    body: {},
  })
  const { status, retryAfter } = answer
  return { status, retryAfter, milliseconds: answer.returned - answer.invoked }
}

const isLive = async (trial: DiskTrial, id: string): Promise<boolean> =>
  (await trial.caller.ask('directory', 'GET', `/helix/streams?user_id=${id}`)).body.data.length > 0

/** A write in the middle of which the store stalls. */
async function goLiveLate(trial: DiskTrial, id: string): Promise<void> {
  const answered = await goLive(trial, id)
  expect(answered).toMatchObject({ status: 503, retryAfter: true })
  expect(answered.milliseconds).toBeGreaterThan(2500)
  expect(answered.milliseconds).toBeLessThan(LATEST_MILLISECONDS)
  expect(await isLive(trial, id)).toBe(false)
}

/** What a caller sees of it if it continues. */
async function seeStall(trial: DiskTrial, goOn: () => void): Promise<void> {
  const [id = ''] = trial.world.churning
  const began = performance.now()
  await goLiveLate(trial, id)
  await Bun.sleep(Math.max(0, STALL_SECONDS * 1000 - (performance.now() - began)))
  goOn()
  // It was begun, so it happens, and memory learns of it.
  expect(await trial.until(() => isLive(trial, id))).toBe(true)
  expect(await trial.until(() => trial.isReady())).toBe(true)
}

describe('a store that stalls', () => {
  test.concurrent.skipIf(!canFailDisk)(
    '503 at the deadline on SQLite; what is committed later is shown',
    () =>
      onTrial(async trial => {
        trial.disk.set({ syncs: 'stall' })
        await seeStall(trial, () => trial.disk.set({}))
      }),
    TEST_MILLISECONDS,
  )

  test.concurrent.skipIf(!engines.includes('postgres'))(
    '503 at the deadline on PostgreSQL, where nothing continues to run, and nothing happens later',
    async () => {
      const place = await createStorePlace('postgres')
      try {
        await onTrial(
          async trial => {
            const url = place.databaseUrl ?? ''
            await stallNewStreams(url)
            const [id = ''] = trial.world.churning
            const began = performance.now()
            await goLiveLate(trial, id)
            expect(await trial.until(async () => (await statementsRunning(url)) === 0)).toBe(true)
            expect(performance.now() - began).toBeLessThan(STALL_SECONDS * 1000)
            await Bun.sleep(Math.max(0, STALL_SECONDS * 1000 - (performance.now() - began)))
            expect(await isLive(trial, id)).toBe(false)
          },
          { databaseUrl: place.databaseUrl },
        )
      } finally {
        await place.remove()
      }
    },
    TEST_MILLISECONDS,
  )

  test.concurrent.skipIf(!canFailDisk)(
    '503 on SQLite for what waits behind it, which never happens, and at once for what comes later',
    () =>
      onTrial(async trial => {
        const [first = '', second = '', third = ''] = trial.world.churning
        trial.disk.set({ syncs: 'stall' })
        const begun = goLive(trial, first)
        expect(await trial.until(() => trial.disk.struck.syncs > 0)).toBe(true)
        const withdrawn = goLive(trial, second)
        expect(await Promise.all([begun, withdrawn])).toMatchObject([{ status: 503 }, { status: 503 }])
        expect(await trial.isReady()).toBe(false)
        const refused = await goLive(trial, third)
        expect(refused).toMatchObject({ status: 503, retryAfter: true })
        expect(refused.milliseconds).toBeLessThan(2500)
        const { series } = await scrape(trial.url)
        expect(series.get('strand_store_writable')).toBe(0)
        expect(series.get('strand_store_deadlines_missed_total{outcome="unknown"}')).toBe(1)
        expect(series.get('strand_store_deadlines_missed_total{outcome="withdrawn"}')).toBe(1)
        expect(series.get('strand_store_writer_oldest_seconds')).toBeGreaterThan(2.5)

        trial.disk.set({})
        expect(await trial.until(() => trial.isReady())).toBe(true)
        expect(await trial.until(() => isLive(trial, first))).toBe(true)
        // Behind this one, nothing can still be on its way.
        expect((await goLive(trial, third)).status).toBe(200)
        expect(await isLive(trial, second)).toBe(false)
        expect((await scrape(trial.url)).series.get('strand_store_writable')).toBe(1)
      }),
    TEST_MILLISECONDS,
  )
})

/** What a stalled disk is to one table: from now on, each row takes long to insert. */
/** Of all clients but this one. */
async function statementsRunning(url: string): Promise<number> {
  const client = new SQL(url, { max: 1 })
  const [row] = await client.unsafe(
    `select count(*)::int as running from pg_stat_activity
     where datname = current_database() and state = 'active' and pid <> pg_backend_pid() and query like '%streams%'`,
  )
  await client.close()
  return row.running
}

async function stallNewStreams(url: string): Promise<void> {
  const client = new SQL(url, { max: 1 })
  await client.unsafe(`
    create function stall() returns trigger language plpgsql as
      $$ begin perform pg_sleep(${STALL_SECONDS}); return new; end $$;
    create trigger stall before insert on streams for each row execute function stall()`)
  await client.close()
}
