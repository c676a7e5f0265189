import { expect } from 'bun:test'
import {
  createStreamKey,
  deleteStreamKey,
  listStreamKeys,
  readStreamKey,
} from '../../../src/contract/control/stream-keys.ts'
import { isoMillis } from '../../../src/kit/time/clock.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { asOperator, expectEmpty, naming, newUser, nowOf } from './operator.ts'

const at = (user_id: string) => `/control/channels/${user_id}/stream-keys`
const create = (server: TestServer, id: string, body: object) =>
  send(server, createStreamKey, asOperator(server, { path: at(id), body }))
const list = (server: TestServer, id: string, query = {}) =>
  send(server, listStreamKeys, asOperator(server, { path: at(id), query }))
const read = (server: TestServer, id: string, query = {}) =>
  send(server, readStreamKey, asOperator(server, { path: `/control/channels/${id}/stream-key`, query }))
const remove = (server: TestServer, id: string, name: string) =>
  send(server, deleteStreamKey, asOperator(server, { path: `${at(id)}/${name}` }))

const HOUR = 3_600_000
const later = (server: TestServer, milliseconds = HOUR) => isoMillis(nowOf(server) + milliseconds)

/** A user with the extra key `guest`. */
async function newGuest(server: TestServer, more = {}): Promise<{ id: string; stream_key: string }> {
  const { id } = await newUser(server)
  const { body } = await create(server, id, { name: 'guest', ...more })
  return { id, stream_key: body.data[0].stream_key }
}

/** The channel that a key opens, as ingest asks for it. */
async function channelOf({ strand }: TestServer, key: string, at?: number): Promise<string | undefined> {
  const { store, streamKeys, clock } = strand.services
  const hashes = streamKeys.lookupHashes(key)
  return (await store.streamKeys.channelOf(hashes, isoMillis(at ?? clock.now())))?.user_id
}

describeOperation(
  createStreamKey,
  {
    valid: async server => asOperator(server, { path: at((await newUser(server)).id), body: { name: 'a' } }),
  },
  ({ ok, fails }) => {
    ok('answers the key, in the form of the main one, and it opens the channel', async server => {
      const { id } = await newUser(server)
      const { body } = await create(server, id, { name: 'second-encoder' })
      const [{ stream_key, ...row }] = body.data
      expect(stream_key).toMatch(new RegExp(`^live_${id}_[A-Za-z0-9]{30}$`))
      expect(row).toEqual({ name: 'second-encoder', created_at: expect.any(String), valid_until: null })
      expect(await channelOf(server, stream_key)).toBe(id)
    })

    ok('leaves the main key as it is', async server => {
      const { id } = await newUser(server)
      const [{ stream_key: main }] = (await read(server, id)).body.data
      const [{ stream_key }] = (await create(server, id, { name: 'a' })).body.data
      expect(stream_key).not.toBe(main)
      expect((await read(server, id)).body.data).toEqual([{ stream_key: main }])
      expect(await channelOf(server, main)).toBe(id)
    })

    ok('a key opens the channel until it expires, and is then swept', async server => {
      const valid_until = later(server)
      const { id, stream_key } = await newGuest(server, { valid_until })
      const end = Date.parse(valid_until)
      expect(await channelOf(server, stream_key, end - 1)).toBe(id)
      expect(await channelOf(server, stream_key, end)).toBeUndefined()
      const { commands } = server.strand.services.store
      const now = nowOf(server)
      await commands.sweep({ now, settled: end - 1000 })
      expect((await list(server, id)).body.data).toHaveLength(1)
      expect(await commands.sweep({ now, settled: end + 1000 })).toBe(1)
      expect((await list(server, id)).body.data).toEqual([])
    })

    ok('a key of an expired name replaces it, and expired keys do not count', async server => {
      const { id } = await newUser(server)
      const { store, streamKeys } = server.strand.services
      const expired = streamKeys.mint(id, 'guest')
      const now = nowOf(server)
      const past = { user_id: id, name: 'guest', valid_until: isoMillis(now - HOUR), now: now - 2 * HOUR }
      await store.commands.createStreamKey({ ...past, stream_key: expired.stored })
      expect((await list(server, id)).body.data).toMatchObject([{ name: 'guest' }])
      expect((await read(server, id, { name: 'guest' })).problem).toBe('name_not_found')
      for (let n = 1; n < 20; n++) expect((await create(server, id, { name: `k${n}` })).status).toBe(200)
      const [{ stream_key }] = (await create(server, id, { name: 'guest' })).body.data
      expect(await channelOf(server, stream_key)).toBe(id)
      expect(await channelOf(server, expired.key, now - HOUR - 1)).toBeUndefined()
    })

    ok('is in the audit log without the key', async server => {
      const { id, stream_key } = await newGuest(server)
      await remove(server, id, 'guest')
      const subject = `channel/${id}/stream-key/guest`
      const { body, text } = await server.call(
        asOperator(server, { path: '/control/audit', query: { subject } }),
      )
      const [removed, created] = body.data
      expect(created).toMatchObject({ operation: 'CreateStreamKey', after: { user_id: id, name: 'guest' } })
      expect(removed).toMatchObject({ operation: 'DeleteStreamKey', before: { user_id: id, name: 'guest' } })
      expect(text).not.toContain(stream_key.slice(-30))
      expect(text).not.toContain('sealed')
    })

    ok('of several at once with one name, one is created', async server => {
      const { id } = await newUser(server)
      const answers = await Promise.all([1, 2, 3].map(() => create(server, id, { name: 'guest' })))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
    })

    ok('the keys of a deleted user open nothing', async server => {
      const { id, stream_key } = await newGuest(server)
      await server.control('DELETE', `/users/${id}`)
      expect(await channelOf(server, stream_key)).toBeUndefined()
    })

    fails('not_found', 'when the user does not exist', server =>
      naming('999', create(server, '999', { name: 'guest' })),
    )
    fails('taken', 'when the channel has a key of this name', async server => {
      const { id } = await newGuest(server)
      return naming('guest', create(server, id, { name: 'guest' }))
    })
    fails('too_many_stream_keys', 'when the channel has 20', async server => {
      const { id } = await newUser(server)
      for (let n = 0; n < 20; n++) expect((await create(server, id, { name: `k${n}` })).status).toBe(200)
      return create(server, id, { name: 'k20' })
    })
    fails('refused_reference', 'when valid_until has passed', async server =>
      create(server, (await newUser(server)).id, { name: 'guest', valid_until: later(server, -1000) }),
    )
    fails('refused_reference', 'when valid_until is not in the calendar', async server =>
      create(server, (await newUser(server)).id, { name: 'guest', valid_until: '2099-02-30T00:00:00Z' }),
    )
    for (const name of ['', 'Guest', 'a b', 'a/b', 'x'.repeat(41)]) {
      fails('malformed_parameter', `when the name is "${name}"`, server =>
        create(server, server.world.broadcaster.id, { name }),
      )
    }
  },
)

describeOperation(
  listStreamKeys,
  { valid: server => asOperator(server, { path: at(server.world.broadcaster.id) }) },
  ({ ok, fails }) => {
    ok('lists names and times by name, never the keys', async server => {
      const { id } = await newUser(server)
      const valid_until = later(server)
      for (const name of ['b', 'a', 'c-1']) await create(server, id, { name, valid_until })
      const { body, text } = await list(server, id)
      expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['a', 'b', 'c-1'])
      expect(body.data[0]).toEqual({ name: 'a', created_at: expect.any(String), valid_until })
      expect(text).not.toContain('live_')
      const first = await list(server, id, { first: 2 })
      const rest = await list(server, id, { first: 2, after: first.body.pagination.cursor })
      expect([...first.body.data, ...rest.body.data]).toEqual(body.data)
    })

    fails('not_found', 'when the user does not exist', server => naming('999', list(server, '999')))
  },
)

describeOperation(
  readStreamKey,
  {
    valid: server =>
      asOperator(server, { path: `/control/channels/${server.world.broadcaster.id}/stream-key` }),
  },
  ({ ok, fails }) => {
    ok('shows the main key, and an extra one by name', async server => {
      const { id, stream_key } = await newGuest(server)
      const main = (await read(server, id)).body.data[0].stream_key
      expect(await channelOf(server, main)).toBe(id)
      expect((await read(server, id, { name: 'guest' })).body).toEqual({ data: [{ stream_key }] })
    })

    fails('not_found', 'when the user does not exist', server => naming('999', read(server, '999')))
    fails('name_not_found', 'when the channel has no key of this name', server =>
      naming('stage', read(server, server.world.broadcaster.id, { name: 'stage' })),
    )
  },
)

describeOperation(
  deleteStreamKey,
  {
    valid: async server => asOperator(server, { path: `${at((await newGuest(server)).id)}/guest` }),
  },
  ({ ok, fails }) => {
    ok('the key opens nothing any more, the others stay', async server => {
      const { id, stream_key } = await newGuest(server)
      const [{ stream_key: other }] = (await create(server, id, { name: 'other' })).body.data
      expectEmpty(await remove(server, id, 'guest'))
      expect(await channelOf(server, stream_key)).toBeUndefined()
      expect(await channelOf(server, other)).toBe(id)
    })

    fails('name_not_found', 'when the channel has no key of this name', server =>
      naming('stage', remove(server, server.world.broadcaster.id, 'stage')),
    )
    fails('name_not_found', 'when the user does not exist', server => remove(server, '999', 'guest'))
  },
)
