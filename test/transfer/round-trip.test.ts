/** Out of one store, into another, out again: the same bytes, whichever engines the stores are on. */
import { describe, expect, test } from 'bun:test'
import { hashToken } from '../../src/auth/tokens.ts'
import { engines } from '../support/server.ts'
import { expectRoundTrips, textOf, ways, withStations } from './round-trip.ts'
import { exported, imported, type Station } from './stations.ts'
import { drawWorld } from './worlds.ts'

describe.each(ways)('from %s to %s', (from, to) => {
  test('any world comes out as it went in', () => expectRoundTrips([from, to], 2))

  test('clients of an export from before the device flow had a switch get the default of their kind', () =>
    withStations([to], async station => {
      const line = (id: string, kind: string, more = {}) => ({
        type: 'client',
        id,
        name: 'Shop',
        kind,
        ...more,
      })
      const { store } = station as Station
      const flowOf = async (id: string) => (await store.clients.find(id))?.device_flow
      await imported(station as Station, textOf([line('a', 'public'), line('b', 'confidential')]))
      expect([await flowOf('a'), await flowOf('b')]).toEqual([true, false])
      await imported(station as Station, textOf([line('b', 'confidential', { device_flow: true })]))
      const out = await exported(station as Station)
      expect(out.match(/"device_flow":(true|false)/g)).toEqual(['"device_flow":true', '"device_flow":true'])
      // What a line leaves out stays as it is.
      expect(
        (await imported(station as Station, textOf([line('b', 'confidential')]))).types.client?.changed,
      ).toBe(0)
      expect(await flowOf('b')).toBe(true)
    }))

  test('with secrets everything continues to work under other master keys', () =>
    withStations([from, to], async (first, second) => {
      const user = { type: 'user', id: '12', login: 'lunar_otter' }
      const client = { type: 'client', id: 'shop', name: 'Shop' }
      const world = drawWorld(7, 12).filter(line => !('id' in line) || line.id !== user.id)
      await imported(first as Station, textOf([user, client]))
      await imported(first as Station, textOf(world))
      const { store, streamKeys } = first as Station
      await store.commands.changePassword({
        user_id: user.id,
        password_hash: await Bun.password.hash('swordfish', {
          algorithm: 'argon2id',
          memoryCost: 1024,
          timeCost: 1,
        }),
      })
      await store.commands.setClientSecret({ id: client.id, secret_hash: hashToken('secret') })
      const rotated = streamKeys.mint(user.id, 2)
      const valid_until = '2026-01-01T00:00:00.000Z'
      await store.commands.rotateStreamKey({
        user_id: user.id,
        version: 2,
        stream_key: rotated.stored,
        valid_until,
      })

      const guest = streamKeys.mint(user.id, 'guest')
      await store.commands.createStreamKey({
        user_id: user.id,
        name: 'guest',
        stream_key: guest.stored,
        valid_until,
        now: 0,
      })
      expect(await exported(first as Station)).not.toContain('live_')

      const out = await exported(first as Station, { secrets: true })
      const other = second as Station
      await imported(other, out)
      expect(await exported(other, { secrets: true })).toBe(out)
      const key = await other.store.streamKeys.current(user.id)
      expect(key && other.streamKeys.open(user.id, key)).toBe(rotated.key)
      const guestOf = async () => {
        const row = await other.store.streamKeys.extra(user.id, 'guest', '2025')
        return row && other.streamKeys.open(user.id, row)
      }
      expect(await guestOf()).toBe(guest.key)
      const hashes = other.streamKeys.lookupHashes(guest.key)
      expect((await other.store.streamKeys.channelOf(hashes, '2025'))?.user_id).toBe(user.id)
      expect((await other.store.clients.credentials(client.id))?.secret_hash).toBe(hashToken('secret'))
      const hash = (await other.store.accounts.credentials(user.login))?.password_hash
      expect(await Bun.password.verify('swordfish', hash ?? '')).toBe(true)

      // Again, and nothing changes; with another key, that one is put in its place.
      expect((await imported(other, out)).types.user?.changed).toBe(0)
      const next = `live_${user.id}_${'z'.repeat(30)}`
      const summary = await imported(
        other,
        textOf([{ type: 'user', id: user.id, login: user.login, stream_key: next }]),
      )
      expect(summary.types.user?.changed).toBe(1)
      const changed = await other.store.streamKeys.current(user.id)
      expect(changed && other.streamKeys.open(user.id, changed)).toBe(next)

      // The same with an extra key; a line without a key keeps it, and a key stands in one line only.
      const line = { type: 'stream_key', user_id: user.id, name: 'guest' }
      const keyCounts = async (more: object) =>
        (await imported(other, textOf([{ ...line, ...more }]))).types.stream_key
      const keysOnly = out.split('\n').filter(text => text.includes('"type":"stream_key"'))
      expect((await imported(other, keysOnly.join('\n'))).types.stream_key?.changed).toBe(0)
      expect(await keyCounts({ valid_until: null })).toEqual({ created: 0, changed: 1, unchanged: 0 })
      expect(await guestOf()).toBe(guest.key)
      const another = `live_${user.id}_${'y'.repeat(30)}`
      expect(await keyCounts({ stream_key: another })).toEqual({ created: 0, changed: 1, unchanged: 0 })
      expect(await guestOf()).toBe(another)
      const twice = textOf([
        { ...line, stream_key: guest.key },
        { ...line, name: 'stage', stream_key: guest.key },
      ])
      await expect(imported(other, twice)).rejects.toThrow('its stream key is in this file already')
      await expect(imported(other, textOf([{ ...line, stream_key: 'live_1_short' }]))).rejects.toThrow(
        'stream_key',
      )
      const foreign = { ...line, stream_key: `live_999_${'y'.repeat(30)}` }
      await expect(imported(other, textOf([foreign]))).rejects.toThrow('must be a key of this user')
      // Of two lines for one key the later counts, and what it omits is that of the earlier.
      const both = textOf([
        { ...line, name: 'twice', stream_key: next.replace('z', 'x') },
        { ...line, name: 'twice', valid_until },
      ])
      expect((await imported(other, both)).types.stream_key).toEqual({ created: 1, changed: 1, unchanged: 0 })
      const kept = await other.store.streamKeys.extra(user.id, 'twice', '2025')
      expect([kept?.valid_until, kept && other.streamKeys.open(user.id, kept)]).toEqual([
        valid_until,
        next.replace('z', 'x'),
      ])
      const many = Array.from({ length: 21 }, (_, n) => ({ ...line, name: `k${n}` }))
      await expect(imported(other, textOf(many))).rejects.toThrow('20 extra stream keys')
    }))
})

describe.each([...engines])('an export on %s', engine => {
  test('is one state, whatever is written meanwhile', () =>
    withStations([engine], async station => {
      const { store } = station as Station
      await imported(station as Station, textOf(drawWorld(3, 12)))
      const before = await exported(station as Station)
      let all = ''
      const { exportLines } = await import('../../src/transfer/export.ts')
      await exportLines(store, {}, async text => {
        // Between any two batches a writer adds to what comes later, and renames what has passed.
        if (all === '') {
          await store.commands.putOrganization({ id: crypto.randomUUID(), name: 'Late' })
          await store.commands.putGame({ id: '4711', name: 'Late too', organization_id: null })
        }
        all += text
      })
      expect(all).toBe(before)
      expect(await exported(station as Station)).not.toBe(before)
    }))
})
