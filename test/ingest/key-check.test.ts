import { describe, expect, test } from 'bun:test'
import { StreamKeys } from '../../src/auth/stream-keys.ts'
import { KeyCheck } from '../../src/ingest/key-check.ts'
import { isoMillis, MovableClock } from '../../src/kit/clock.ts'
import { KeyRing } from '../../src/kit/key-ring.ts'
import { Unavailable } from '../../src/store/errors.ts'
import type { Store } from '../../src/store/store.ts'
import { engines } from '../support/server.ts'
import { anyStreamKey, openTestStore } from '../support/store/stores.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const MINUTE = 60_000
const ADDRESS = '192.0.2.7'

describe.each([...engines])('a stream key at ingest on %s', engine => {
  const onStore = async (
    proof: (world: {
      check: KeyCheck
      clock: MovableClock
      keys: Record<'forever' | 'briefly' | 'deleted', string>
      /** From now on the store cannot be asked. */
      lose(): void
      find(): void
    }) => Promise<void>,
  ) => {
    const { store, close } = await openTestStore(engine)
    try {
      const streamKeys = new StreamKeys(new KeyRing([{ id: 'k', bytes: new Uint8Array(32) }]))
      const clock = new MovableClock({ at: NOW, running: false })
      await store.commands.putUser({ id: '7', login: 'otter', stream_key: anyStreamKey('7'), now: NOW })
      const add = async (name: string, valid_until: string | null) => {
        const { key, stored } = streamKeys.mint('7', name)
        await store.commands.createStreamKey({
          user_id: '7',
          name,
          stream_key: stored,
          valid_until,
          now: NOW,
        })
        return key
      }
      const keys = {
        forever: await add('forever', null),
        briefly: await add('briefly', isoMillis(NOW + 5 * MINUTE)),
        deleted: await add('deleted', null),
      }
      let isLost = false
      const asked: Store = {
        ...store,
        streamKeys: {
          ...store.streamKeys,
          channelOf: (...args) => {
            if (isLost) throw new Unavailable('lost')
            return store.streamKeys.channelOf(...args)
          },
        },
      }
      const check = new KeyCheck({ store: asked, streamKeys, clock })
      for (const key of Object.values(keys))
        expect(await check.findChannel(key, ADDRESS)).toMatchObject({ user_id: '7', login: 'otter' })
      await store.commands.deleteStreamKey({ user_id: '7', name: 'deleted' })
      const lose = () => {
        isLost = true
      }
      const find = () => {
        isLost = false
      }
      await proof({ check, clock, keys, lose, find })
    } finally {
      await close()
    }
  }

  test('is refused once it expired or was deleted, and then also while the store is lost', () =>
    onStore(async ({ check, clock, keys, lose }) => {
      expect(await check.findChannel(keys.deleted, ADDRESS)).toBeUndefined()
      clock.advance(5 * MINUTE)
      expect(await check.findChannel(keys.briefly, ADDRESS)).toBeUndefined()
      lose()
      expect(await check.findChannel(keys.deleted, ADDRESS)).toBeUndefined()
      expect(await check.findChannel(keys.briefly, ADDRESS)).toBeUndefined()
      expect(await check.findChannel(keys.forever, ADDRESS)).toMatchObject({ user_id: '7' })
    }))

  test('that was valid is accepted for ten minutes while the store is lost, unless it expires', () =>
    onStore(async ({ check, clock, keys, lose }) => {
      lose()
      clock.advance(5 * MINUTE - 1)
      expect(await check.findChannel(`otter?key=${keys.briefly}`, ADDRESS)).toMatchObject({ user_id: '7' })
      clock.advance(1)
      expect(await check.findChannel(keys.briefly, ADDRESS)).toBeUndefined()
      expect(await check.findChannel(keys.forever, ADDRESS)).toMatchObject({ user_id: '7' })
      clock.advance(5 * MINUTE)
      expect(await check.findChannel(keys.forever, ADDRESS)).toBeUndefined()
    }))

  test('that could not be checked, because the store was lost, does not count as a wrong one', () =>
    onStore(async ({ check, clock, keys, lose, find }) => {
      lose()
      clock.advance(10 * MINUTE)
      for (let n = 0; n < 30; n++) expect(await check.findChannel(keys.forever, ADDRESS)).toBeUndefined()
      find()
      expect(await check.findChannel(keys.forever, ADDRESS)).toMatchObject({ user_id: '7' })
    }))

  test('is accepted after 20 wrong ones of its network, only later; a wrong one waits too', () =>
    onStore(async ({ check, keys }) => {
      const timed = async (key: string, address: string) => {
        const began = performance.now()
        return { channel: await check.findChannel(key, address), isSlow: performance.now() - began >= 490 }
      }
      for (let n = 0; n < 20; n++)
        expect(await check.findChannel(`live_7_wrong${n}`, ADDRESS)).toBeUndefined()
      expect(await timed(keys.forever, ADDRESS)).toMatchObject({ channel: { user_id: '7' }, isSlow: true })
      expect(await timed('live_7_wrong', ADDRESS)).toMatchObject({ channel: undefined, isSlow: true })
      expect(await check.findChannel(keys.forever, '198.51.100.1')).toMatchObject({ user_id: '7' })
    }))
})
