import { expect } from 'bun:test'
import { getStreamKey } from '../../../src/contract/helix/get-stream-key.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { tokenOf } from './callers.ts'
import { newChannel } from './channels.ts'
import { withMessage } from './page-rules.ts'

const SCOPE = 'channel:read:stream_key'
const ask = (server: TestServer, changes: Ask = {}) => send(server, getStreamKey, changes)
const valid = ({ world }: TestServer): Ask => ({
  token: world.broadcaster.token,
  query: { broadcaster_id: world.broadcaster.id },
})
const keyOf = async (server: TestServer, of: { id: string; token: string }): Promise<string> => {
  const answer = await ask(server, { token: of.token, query: { broadcaster_id: of.id } })
  expect(answer.status).toBe(200)
  return answer.body.data[0].stream_key
}

describeOperation(getStreamKey, { valid }, ({ ok, fails }) => {
  ok('gives one element with nothing but the key, which must not be cached', async server => {
    const answer = await ask(server, valid(server))
    expect(Object.keys(answer.body)).toEqual(['data'])
    expect(answer.body.data).toHaveLength(1)
    const [element] = answer.body.data
    expect(Object.keys(element)).toEqual(['stream_key'])
    expect(element.stream_key).toMatch(new RegExp(`^live_${server.world.broadcaster.id}_[A-Za-z0-9]{30}$`))
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  ok('a user has one from the first moment, and it stays the same', async server => {
    const one = await newChannel(server, [SCOPE])
    const other = await newChannel(server, [SCOPE])
    const key = await keyOf(server, one)
    expect(key).toMatch(new RegExp(`^live_${one.id}_[A-Za-z0-9]{30}$`))
    await server.control('PUT', `/channels/${one.id}/stream`, {})
    await server.control('PUT', `/users/${one.id}`, { display_name: 'Another' })
    await server.control('DELETE', `/channels/${one.id}/stream`)
    expect(await keyOf(server, one)).toBe(key)
    const elsewhere = await tokenOf(server, {
      client_id: server.world.other_client.id,
      user_id: one.id,
      scopes: [SCOPE],
    })
    expect(await keyOf(server, { ...one, token: elsewhere })).toBe(key)
    expect((await keyOf(server, other)).slice(-30)).not.toBe(key.slice(-30))
  })

  ok('changes when it is rotated, with or without a grace, and for this channel alone', async server => {
    const one = await newChannel(server, [SCOPE])
    const other = await newChannel(server, [SCOPE])
    const untouched = await keyOf(server, other)
    const keys = [await keyOf(server, one)]
    for (const body of [{}, { grace_seconds: 60 }, { grace_seconds: 0 }]) {
      const [{ stream_key }] = await server.control('POST', `/channels/${one.id}/stream-key/rotate`, body)
      expect(await keyOf(server, one)).toBe(stream_key)
      keys.push(stream_key)
    }
    expect(new Set(keys).size).toBe(4)
    for (const key of keys) expect(key).toMatch(new RegExp(`^live_${one.id}_[A-Za-z0-9]{30}$`))
    expect(await keyOf(server, other)).toBe(untouched)
  })

  ok('rotations that meet leave one key, which is one of those answered', async server => {
    const channel = await newChannel(server, [SCOPE])
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        server.control('POST', `/channels/${channel.id}/stream-key/rotate`, {}),
      ),
    )
    const keys = answers.map(([{ stream_key }]) => stream_key)
    expect(new Set(keys).size).toBe(6)
    expect(keys).toContain(await keyOf(server, channel))
  })

  ok('no key is in the log or lies open in the store', async server => {
    const channel = await newChannel(server, [SCOPE])
    const before = await keyOf(server, channel)
    await server.control('POST', `/channels/${channel.id}/stream-key/rotate`, {})
    const secrets = [before, await keyOf(server, channel)].map(key => key.slice(-30))
    const stored = JSON.stringify(await server.strand.services.store.streamKeys.current(channel.id))
    for (const secret of secrets) {
      expect(stored).not.toContain(secret)
      expect(server.logLines.some(line => line.includes(secret))).toBe(false)
    }
  })

  fails('missing_parameter', 'naming broadcaster_id', async server =>
    withMessage(
      await ask(server, { ...valid(server), query: { user_id: server.world.broadcaster.id } }),
      'Missing required parameter "broadcaster_id"',
    ),
  )
  fails('repeated_parameter', 'when broadcaster_id is given twice with one value', server => {
    const { id } = server.world.broadcaster
    return ask(server, { ...valid(server), query: { broadcaster_id: [id, id] } })
  })
  fails('scope_missing', 'before the parameters are looked at', async server => {
    const { token } = await newChannel(server, ['channel:manage:broadcast'])
    return ask(server, { token })
  })
  for (const [title, idOf] of [
    ['another user', ({ world }: TestServer) => world.viewer.id],
    ['a user that does not exist', () => '999'],
    ['no number', () => 'abc'],
    ['the own id with a zero in front', ({ world }: TestServer) => `0${world.broadcaster.id}`],
    ['two ids with a comma', ({ world }: TestServer) => `${world.broadcaster.id},${world.broadcaster.id}`],
  ] as const) {
    fails('identity_mismatch', `when the id is ${title}`, async server =>
      withMessage(
        await ask(server, { ...valid(server), query: { broadcaster_id: idOf(server) } }),
        "The ID in broadcaster_id must match the user ID found in the request's OAuth token.",
      ),
    )
  }
  fails('identity_mismatch', 'for an editor of the channel too', server =>
    ask(server, { ...valid(server), token: server.world.editor.token }),
  )
})
