import { describe, expect, test } from 'bun:test'
import { StreamKeys } from '../../src/auth/stream-keys.ts'
import { refuse } from '../../src/contract/problem.ts'
import { type Channel, MayPublish, type PublishAttempt } from '../../src/ingest/may-publish.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { isoMillis, MovableClock } from '../../src/kit/time/clock.ts'
import { Conflict, Unavailable } from '../../src/store/errors.ts'
import type { Store } from '../../src/store/store.ts'
import { engines } from '../support/server.ts'
import { anyStreamKey, openTestStore } from '../support/store/stores.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const MINUTE = 60_000
const ADDRESS = '192.0.2.7'

describe.each([...engines])('a stream key at ingest on %s', engine => {
  const onStore = async (
    proof: (world: {
      mayPublish: MayPublish
      /** The channel of an accepted key. */
      check: (name: string, address: string) => Promise<Channel | undefined>
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
      const mayPublish = new MayPublish({ store: asked, streamKeys, clock })
      const check = async (name: string, address: string) => {
        const decision = await mayPublish.decide({ name, address }, () => undefined)
        return decision.kind === 'allowed' ? decision.channel : undefined
      }
      for (const key of Object.values(keys))
        expect(await check(key, ADDRESS)).toMatchObject({ user_id: '7', login: 'otter' })
      await store.commands.deleteStreamKey({ user_id: '7', name: 'deleted' })
      const lose = () => {
        isLost = true
      }
      const find = () => {
        isLost = false
      }
      await proof({ mayPublish, check, clock, keys, lose, find })
    } finally {
      await close()
    }
  }

  test('is refused once it expired or was deleted, and then also while the store is lost', () =>
    onStore(async ({ check, clock, keys, lose }) => {
      expect(await check(keys.deleted, ADDRESS)).toBeUndefined()
      clock.advance(5 * MINUTE)
      expect(await check(keys.briefly, ADDRESS)).toBeUndefined()
      lose()
      expect(await check(keys.deleted, ADDRESS)).toBeUndefined()
      expect(await check(keys.briefly, ADDRESS)).toBeUndefined()
      expect(await check(keys.forever, ADDRESS)).toMatchObject({ user_id: '7' })
    }))

  test('that was valid is accepted for ten minutes while the store is lost, unless it expires', () =>
    onStore(async ({ check, clock, keys, lose }) => {
      lose()
      clock.advance(5 * MINUTE - 1)
      expect(await check(`otter?key=${keys.briefly}`, ADDRESS)).toMatchObject({ user_id: '7' })
      clock.advance(1)
      expect(await check(keys.briefly, ADDRESS)).toBeUndefined()
      expect(await check(keys.forever, ADDRESS)).toMatchObject({ user_id: '7' })
      clock.advance(5 * MINUTE)
      expect(await check(keys.forever, ADDRESS)).toBeUndefined()
    }))

  test('that could not be checked, because the store was lost, does not count as a wrong one', () =>
    onStore(async ({ check, clock, keys, lose, find }) => {
      lose()
      clock.advance(10 * MINUTE)
      for (let n = 0; n < 30; n++) expect(await check(keys.forever, ADDRESS)).toBeUndefined()
      find()
      expect(await check(keys.forever, ADDRESS)).toMatchObject({ user_id: '7' })
    }))

  test('is accepted after 20 wrong ones of its network, only later; a wrong one waits too', () =>
    onStore(async ({ check, keys }) => {
      const timed = async (key: string, address: string) => {
        const began = performance.now()
        return { channel: await check(key, address), isSlow: performance.now() - began >= 490 }
      }
      for (let n = 0; n < 20; n++) expect(await check(`live_7_wrong${n}`, ADDRESS)).toBeUndefined()
      expect(await timed(keys.forever, ADDRESS)).toMatchObject({ channel: { user_id: '7' }, isSlow: true })
      expect(await timed('live_7_wrong', ADDRESS)).toMatchObject({ channel: undefined, isSlow: true })
      expect(await check(keys.forever, '198.51.100.1')).toMatchObject({ user_id: '7' })
    }))

  test('with a refusal of the store is refused for that reason; a wrong key is not attempted', () =>
    onStore(async ({ mayPublish, keys }) => {
      for (const problem of ['channel_busy', 'session_ended'] as const)
        expect(
          await mayPublish.decide({ name: keys.forever, address: ADDRESS }, () => ({
            open: async () => refuse(problem),
          })),
        ).toEqual({ kind: 'refused', reason: problem })
      let attempts = 0
      const begin = () => {
        attempts += 1
        return undefined
      }
      for (const name of ['', 'live_7_wrong', `marten?key=${keys.forever}`, `otter?key=${keys.deleted}`])
        expect(await mayPublish.decide({ name, address: undefined }, begin)).toEqual({
          kind: 'refused',
          reason: 'wrong_key',
        })
      expect(attempts).toBe(0)
    }))

  test('finds its channel busy only as long as the other publisher has not ended', () =>
    onStore(async ({ mayPublish, keys }) => {
      const opened = { stream_id: '1', video_id: null, started_at: '', replaced: null }
      const decide = async (hasEnded: boolean) => {
        const answers = [refuse('channel_busy'), opened]
        const attempt: PublishAttempt = {
          open: async () => answers.shift() ?? opened,
          otherMayHaveEnded: async () => hasEnded,
        }
        return mayPublish.decide({ name: keys.forever, address: ADDRESS }, () => attempt)
      }
      expect(await decide(false)).toEqual({ kind: 'refused', reason: 'channel_busy' })
      expect(await decide(true)).toMatchObject({ kind: 'allowed', opened })
    }))

  test('may publish without an answer of the store, unless the channel is reserved in this process', () =>
    onStore(async ({ mayPublish, keys }) => {
      const request = { name: keys.forever, address: ADDRESS }
      for (const error of [new Unavailable('lost'), new Conflict('lost')]) {
        const open = () => Promise.reject(error)
        expect(await mayPublish.decide(request, () => ({ open }))).toMatchObject({
          kind: 'allowed',
          channel: { user_id: '7' },
          opened: undefined,
        })
        const taken = await mayPublish.decide(request, () => ({ open, reserve: () => false }))
        expect(taken).toEqual({ kind: 'refused', reason: 'channel_busy' })
      }
      const never = { open: () => new Promise<never>(() => undefined), maxWaitMilliseconds: 20 }
      expect(await mayPublish.decide(request, () => never)).toMatchObject({ kind: 'allowed' })
      const broken = { open: () => Promise.reject(new Error('a bug')) }
      await expect(mayPublish.decide(request, () => broken)).rejects.toThrow('a bug')
    }))
})
