/** Stream keys that a file gives to users who had them before, or under another name. */
import { describe, expect, test } from 'bun:test'
import { StreamKeys } from '../../src/auth/stream-keys.ts'
import { newMasterKey } from '../../src/config/data-folder.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { isoMillis } from '../../src/kit/time/clock.ts'
import { reseal, STREAM_KEY_KINDS } from '../../src/maintenance/key-rotation.ts'
import { engines } from '../support/server.ts'
import { textOf } from './round-trip.ts'
import { imported, openStation, type Station } from './stations.ts'

const keyOf = (letter: string) => `live_1_${letter.repeat(30)}`
const user = (letter: string) => ({ type: 'user', id: '1', login: 'otter', stream_key: keyOf(letter) })
const extra = (name: string, letter: string) => ({
  type: 'stream_key',
  user_id: '1',
  name,
  stream_key: keyOf(letter),
})

async function currentKey({ store, streamKeys }: Station): Promise<string | undefined> {
  const row = await store.streamKeys.current('1')
  return row && streamKeys.open('1', row)
}

/** Whether a key opens its channel. */
async function opens({ store, streamKeys, clock }: Station, letter: string): Promise<boolean> {
  const hashes = streamKeys.lookupHashes(keyOf(letter))
  return (await store.streamKeys.channelOf(hashes, isoMillis(clock.now()))) !== undefined
}

/** The extra keys by name. */
async function extraKeys({ store, streamKeys, clock }: Station) {
  const { rows } = await store.streamKeys.extras('1', { first: 100, direction: 'forward' })
  const keys = rows.map(async ({ name }) => {
    const row = await store.streamKeys.extra('1', name, isoMillis(clock.now()))
    return [name, row && streamKeys.open('1', row)]
  })
  return Object.fromEntries(await Promise.all(keys))
}

describe.each([...engines])('on %s', engine => {
  const onStation = async (work: (station: Station) => Promise<void>) => {
    const station = await openStation(engine)
    try {
      await work(station)
    } finally {
      await station.close()
    }
  }

  test('a user gets an earlier stream key back, and the one in between ends', () =>
    onStation(async station => {
      for (const letter of ['a', 'b', 'a', 'a', 'b']) {
        await imported(station, textOf([user(letter)]))
        expect(await currentKey(station)).toBe(keyOf(letter))
      }
      expect([await opens(station, 'a'), await opens(station, 'b')]).toEqual([false, true])
    }))

  test('also if it was sealed with an earlier master key, and all can be sealed again', () =>
    onStation(async station => {
      const [old, next] = [newMasterKey(), newMasterKey()]
      const before = { ...station, streamKeys: new StreamKeys(new KeyRing([old])) }
      await imported(before, textOf([user('a')]))
      await imported(before, textOf([user('b'), extra('obs', 'c')]))
      const ring = new KeyRing([next, old])
      const after = { ...station, streamKeys: new StreamKeys(ring) }
      await imported(after, textOf([user('a'), extra('phone', 'c')]))
      const { unopened } = await reseal(station.store, ring, STREAM_KEY_KINDS)
      expect(unopened).toEqual([])
      expect(await currentKey(after)).toBe(keyOf('a'))
      expect([await opens(after, 'a'), await opens(after, 'b')]).toEqual([true, false])
      expect(await extraKeys(after)).toEqual({ phone: keyOf('c') })
    }))

  test('an extra key that has another name in the file is renamed, and keys can trade names', () =>
    onStation(async station => {
      await imported(station, textOf([user('a'), extra('obs', 'c'), extra('phone', 'd')]))
      await imported(station, textOf([extra('studio', 'c')]))
      expect(await extraKeys(station)).toEqual({ phone: keyOf('d'), studio: keyOf('c') })
      for (const _ of [1, 2]) {
        await imported(station, textOf([extra('studio', 'd'), extra('phone', 'c')]))
        expect(await extraKeys(station)).toEqual({ phone: keyOf('c'), studio: keyOf('d') })
      }
    }))
})
