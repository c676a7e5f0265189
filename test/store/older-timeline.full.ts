/** A primary whose timeline is older than that of the one before: a failover was undone, or it has not noticed one. */
import { describe, expect, test } from 'bun:test'
import { Unavailable } from '../../src/store/errors.ts'
import type { Store } from '../../src/store/store.ts'
import { engines } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'
import { anyStreamKey } from '../support/store/stores.ts'
import { openClaiming } from './claimed-timeline.ts'

/** The rule waits ten seconds, and probes every second. */
const DECIDED_WITHIN_MILLISECONDS = 60_000
const TIMEOUT_MILLISECONDS = 90_000
const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const author = { actor: 'operator', operation: 'Test', chain: 'operator', at: '2026-03-01T12:00:00.000Z' }

const isReadable = async (store: Store) =>
  store.facts.find('test').then(
    () => true,
    (error: unknown) => {
      if (error instanceof Unavailable) return false
      throw error
    },
  )

async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  const began = performance.now()
  while (!(await holds())) {
    if (performance.now() - began > DECIDED_WITHIN_MILLISECONDS) throw new Error('it does not happen')
    await Bun.sleep(50)
  }
}

const isGone = (line: { msg: string }) => line.msg.startsWith('the PostgreSQL primary is gone')

const putUser = (store: Store) =>
  store.as(author).commands.putUser({ id: '1', login: 'one', stream_key: anyStreamKey('1'), now: NOW })
/** A change that is in the feed. */
const start = (store: Store) =>
  store.as(author).commands.startStream({
    user_id: '1',
    stream_id: '10',
    video_id: '11',
    started_at: '2026-03-01T12:00:00Z',
  })

describe.skipIf(!engines.includes('postgres'))('the only primary has an older timeline', () => {
  test.concurrent(
    'nothing was acknowledged on the newer one: it is used again',
    async () => {
      const { store, lines, claim, close } = await openClaiming(2)
      await putUser(store)
      await claim(3)
      await until(() => lines.some(line => line.msg === 'the PostgreSQL primary changed'))
      await claim(2)
      await until(() => lines.some(isGone))
      await until(() => isReadable(store))
      expect(lines.filter(line => line.level === 'error')).toEqual([])
      await close()
    },
    TIMEOUT_MILLISECONDS,
  )

  test.concurrent(
    'it has what was acknowledged on the newer one, by the feed: it is used again',
    async () => {
      const { store, lines, claim, close } = await openClaiming(3)
      await putUser(store)
      await start(store)
      await claim(2)
      await until(() => lines.some(isGone))
      await until(() => isReadable(store))
      expect(lines.filter(line => line.level === 'error')).toEqual([])
      await close()
    },
    TIMEOUT_MILLISECONDS,
  )

  test.concurrent(
    'an acknowledged change is missing: it is not used, and the log states what to do',
    async () => {
      const { store, direct, lines, claim, close } = await openClaiming(3)
      await putUser(store)
      await start(store)
      await direct.unsafe('delete from feed')
      await claim(2)
      await until(() => lines.some(line => line.level === 'error'))
      expect(lines.find(line => line.level === 'error')?.reason).toMatch(
        /are missing there: promote .* restart this process$/,
      )
      expect(await isReadable(store)).toBe(false)
      await close()
    },
    TIMEOUT_MILLISECONDS,
  )

  test.concurrent(
    'another server does not answer: it may be the primary, so this one is not used',
    async () => {
      const host = `127.0.0.1:${await freePort()}`
      const { store, lines, claim, close } = await openClaiming(3, [host])
      await claim(2)
      await until(() => lines.some(line => line.level === 'error'))
      expect(lines.find(line => line.level === 'error')?.reason).toStartWith(`${host} may be the primary`)
      expect(await isReadable(store)).toBe(false)
      await close()
    },
    TIMEOUT_MILLISECONDS,
  )
})
