import { expect } from 'bun:test'
import { createStreamMarker } from '../../../src/contract/helix/create-stream-marker.ts'
import { describeOperation, expectProblem, send } from '../../support/operation.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'
import { tokenOf } from './callers.ts'
import { goLive, goOffline, type NewChannel, newChannel, newLiveChannel } from './channels.ts'
import { idsOf, type Row, withMessage } from './page-rules.ts'

const SCOPES = ['channel:manage:broadcast']
const ask = (server: TestServer, changes: Ask = {}) => send(server, createStreamMarker, changes)
const valid = ({ world }: TestServer): Ask => ({
  token: world.broadcaster.token,
  body: { user_id: world.broadcaster.id, description: 'the jump' },
})

/** Marks the channel's stream; the marker must come. */
const mark = async (server: TestServer, channel: NewChannel, changes: Ask = {}): Promise<Row> => {
  const answer = await ask(server, { token: channel.token, body: { user_id: channel.id }, ...changes })
  expect(answer.text).toStartWith('{"data":[{')
  expect(answer.status).toBe(200)
  return answer.body.data[0]
}
const markersOf = async (server: TestServer, channel: NewChannel): Promise<Row[]> => {
  const token = await tokenOf(server, {
    client_id: server.world.client.id,
    user_id: channel.id,
    scopes: ['user:read:broadcast'],
  })
  const listing = await server.call({
    path: '/helix/streams/markers',
    token,
    query: { user_id: channel.id, first: 100 },
  })
  return listing.body.data[0].videos[0].markers
}
const keyed = (key: string): Ask => ({ headers: { 'Idempotency-Key': key } })
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()
const secondsBetween = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1000

describeOperation(createStreamMarker, { valid }, ({ ok, fails }) => {
  ok('gives one flat element with four fields and no URL', async server => {
    const answer = await ask(server, valid(server))
    expect(Object.keys(answer.body)).toEqual(['data'])
    const [marker, ...rest] = answer.body.data
    expect(rest).toEqual([])
    expect(Object.keys(marker)).toEqual(['id', 'created_at', 'description', 'position_seconds'])
    expect(marker.id).toMatch(/^[0-9a-f]{32}$/)
    expect(marker.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(marker.description).toBe('the jump')
    expect(Number.isSafeInteger(marker.position_seconds)).toBe(true)
  })

  ok('the marker is in the listing at once', async server => {
    const channel = await newLiveChannel(server)
    const made = [await mark(server, channel), await mark(server, channel)]
    const listed = await markersOf(server, channel)
    expect(new Set(idsOf(listed))).toEqual(new Set(idsOf(made)))
    for (const { url: _, URL: __, ...marker } of listed) expect(made).toContainEqual(marker)
  })

  ok('takes JSON, the query string without a body, or both mixed', async server => {
    const channel = await newLiveChannel(server)
    const { id: user_id, token } = channel
    const requests: Ask[] = [
      { body: { user_id, description: 'here' } },
      { query: { user_id, description: 'here' } },
      { query: { user_id }, body: { description: 'here' } },
      { query: { description: 'here' }, body: { user_id } },
      { query: { user_id }, body: { user_id, description: 'here' } },
      { query: { user_id, description: 'here' }, body: {} },
      { query: { user_id, description: 'here' }, rawBody: '' },
      { query: { user_id: '', description: '' }, body: { user_id, description: 'here' } },
      { query: { user_id, description: 'here' }, body: { user_id: '', description: '' } },
      { query: { user_id, description: 'here' }, body: { description: null } },
    ]
    for (const request of requests) {
      const answer = await ask(server, { token, ...request })
      expect({ request, answer: answer.text }).toEqual({
        request,
        answer: expect.stringContaining('"description":"here"'),
      })
    }
    expect(await markersOf(server, channel)).toHaveLength(requests.length)
  })

  ok('user_id may be a JSON number, also together with the same text in the query', async server => {
    const { broadcaster } = server.world
    await mark(server, broadcaster, { body: { user_id: Number(broadcaster.id) } })
    await mark(server, broadcaster, {
      query: { user_id: broadcaster.id },
      body: { user_id: Number(broadcaster.id) },
    })
  })

  ok('user_id may be a JSON number where the server itself assigned the id', async server => {
    const channel = await newLiveChannel(server)
    await mark(server, channel, { body: undefined, rawBody: `{"user_id":${channel.id}}` })
  })

  ok('a description that is absent, null or empty is ""', async server => {
    const channel = await newLiveChannel(server)
    const { id: user_id } = channel
    for (const request of [
      { body: { user_id } },
      { body: { user_id, description: null } },
      { body: { user_id, description: '' } },
      { body: undefined, query: { user_id } },
      { body: undefined, search: `user_id=${user_id}&description=` },
    ]) {
      expect((await mark(server, channel, request)).description).toBe('')
    }
  })

  ok('a description of 140 code points is kept as it is', async server => {
    const channel = await newLiveChannel(server)
    const { id: user_id } = channel
    for (const description of [
      'x'.repeat(140),
      '\u{1F98A}'.repeat(140),
      'e\u0301'.repeat(70),
      ' leading and trailing ',
      '<script>"\\\n\t\u0001\u2028\u202e%00&amp;',
      '日本語 العربية',
    ]) {
      expect((await mark(server, channel, { body: { user_id, description } })).description).toBe(description)
      const { description: byQuery } = await mark(server, channel, {
        body: undefined,
        query: { user_id, description },
      })
      expect(byQuery).toBe(description)
    }
    const escaped = `{"user_id":"${user_id}","description":"\\ud83e\\udd8a caf\\u00e9"}`
    const marker = await mark(server, channel, { body: undefined, rawBody: escaped })
    expect(marker.description).toBe('\u{1F98A} café')
    const listed = await markersOf(server, channel)
    expect(listed.map(each => each.description)).toContain('\u{1F98A}'.repeat(140))
  })

  ok('further fields and query parameters are ignored, __proto__ without effect', async server => {
    const channel = await newLiveChannel(server)
    const rawBody = `{"__proto__":{"description":"no"},"id":"1","position_seconds":9,"user_id":"${channel.id}"}`
    const marker = await mark(server, channel, { body: undefined, rawBody, search: '&&first=x&__proto__=1&' })
    expect(marker.description).toBe('')
    expect(marker.id).not.toBe('1')
  })

  ok('the position is the whole seconds since the stream started', async server => {
    const channel = await newChannel(server)
    const { started_at } = await goLive(server, channel.id, { started_at: ago(3600) })
    const first = await mark(server, channel)
    expect(first.position_seconds).toBe(secondsBetween(started_at, first.created_at))
    expect(first.position_seconds).toBeGreaterThanOrEqual(3600)
    await server.control('POST', '/clock', { advance_seconds: 90 })
    const second = await mark(server, channel)
    expect(second.position_seconds).toBe(secondsBetween(started_at, second.created_at))
    expect(second.position_seconds - first.position_seconds).toBeGreaterThanOrEqual(90)
  })

  ok('the position is 0 at the very start, though the clock go back', async server => {
    const channel = await newLiveChannel(server)
    const { clock } = server.strand.services.demo ?? {}
    clock?.advance(-30_000)
    const marker = await mark(server, channel)
    clock?.advance(30_000)
    expect(marker.position_seconds).toBe(0)
  })

  ok('positions never go back within a stream, whatever the clock does', async server => {
    const channel = await newLiveChannel(server, { started_at: ago(600) })
    const { clock } = server.strand.services.demo ?? {}
    const positions: number[] = []
    for (const shift of [0, 10_000, -40_000, 5_000, -100_000, 125_000]) {
      clock?.advance(shift)
      positions.push((await mark(server, channel)).position_seconds)
    }
    expect(positions).toEqual(positions.toSorted((a, b) => a - b))
    const [first = 0, second = 0, third = 0] = positions
    expect(first).toBeGreaterThanOrEqual(600)
    expect(third).toBe(second)
    const many = await Promise.all(Array.from({ length: 10 }, () => mark(server, channel)))
    for (const marker of many) expect(marker.position_seconds).toBeGreaterThanOrEqual(positions.at(-1) ?? 0)
    expect(new Set(idsOf(many)).size).toBe(10)
  })

  ok('a new stream begins to count again', async server => {
    const channel = await newLiveChannel(server, { started_at: ago(600) })
    await mark(server, channel)
    await goOffline(server, channel.id)
    await goLive(server, channel.id)
    expect((await mark(server, channel)).position_seconds).toBeLessThan(600)
  })

  ok('an editor may, until the channel takes the editor away', async server => {
    const channel = await newLiveChannel(server)
    const editor = await newChannel(server)
    await server.control('PUT', `/channels/${channel.id}/editors/${editor.id}`)
    await mark(server, { ...channel, token: editor.token })
    await server.control('DELETE', `/channels/${channel.id}/editors/${editor.id}`)
    const answer = await ask(server, { token: editor.token, body: { user_id: channel.id } })
    expectProblem(createStreamMarker, answer, 'marker_forbidden')
  })

  ok('a replay answers with the first marker and makes no second', async server => {
    const channel = await newLiveChannel(server)
    const key = `'"key/+=${'k'.repeat(240)}`
    const first = await mark(server, channel, keyed(key))
    await server.control('POST', '/clock', { advance_seconds: 5 })
    expect(await mark(server, channel, keyed(key))).toEqual(first)
    const sameInput: Ask = { body: { user_id: channel.id, description: null, more: 1 } }
    expect(await mark(server, channel, { ...keyed(key), ...sameInput })).toEqual(first)
    const byQuery: Ask = { body: undefined, query: { user_id: channel.id } }
    expect(await mark(server, channel, { ...keyed(key), ...byQuery })).toEqual(first)
    expect(await markersOf(server, channel)).toHaveLength(1)
    expect((await mark(server, channel, keyed(`${key}2`))).id).not.toBe(first.id)
    expect((await mark(server, channel)).id).not.toBe(first.id)
  })

  ok('a replay is answered after the stream has ended, and while another runs', async server => {
    const channel = await newLiveChannel(server)
    const first = await mark(server, channel, keyed('once'))
    await goOffline(server, channel.id)
    expect(await mark(server, channel, keyed('once'))).toEqual(first)
    await goLive(server, channel.id)
    expect(await mark(server, channel, keyed('once'))).toEqual(first)
    expect(await markersOf(server, channel)).toEqual([])
  })

  ok('requests with one key that arrive together make one marker', async server => {
    const channel = await newLiveChannel(server)
    const markers = await Promise.all(
      Array.from({ length: 12 }, () => mark(server, channel, keyed('together'))),
    )
    expect(new Set(idsOf(markers)).size).toBe(1)
    expect(await markersOf(server, channel)).toHaveLength(1)
  })

  ok('a key belongs to one client and user', async server => {
    const channel = await newLiveChannel(server)
    const editor = await newChannel(server)
    await server.control('PUT', `/channels/${channel.id}/editors/${editor.id}`)
    const { other_client, client } = server.world
    const elsewhere = await tokenOf(server, {
      client_id: other_client.id,
      user_id: channel.id,
      scopes: SCOPES,
    })
    const secondToken = await tokenOf(server, { client_id: client.id, user_id: channel.id, scopes: SCOPES })
    const first = await mark(server, channel, keyed('shared'))
    const byEditor = await mark(server, { ...channel, token: editor.token }, keyed('shared'))
    const byOther = await mark(server, { ...channel, token: elsewhere }, keyed('shared'))
    expect(new Set(idsOf([first, byEditor, byOther])).size).toBe(3)
    const bySecondToken = await mark(server, { ...channel, token: secondToken }, keyed('shared'))
    expect(bySecondToken).toEqual(first)
  })

  ok('a key that failed is not used up', async server => {
    const channel = await newChannel(server)
    const early = await ask(server, {
      token: channel.token,
      body: { user_id: channel.id },
      ...keyed('early'),
    })
    expectProblem(createStreamMarker, early, 'not_live')
    await goLive(server, channel.id)
    await mark(server, channel, keyed('early'))
  })

  ok('a key is forgotten after 24 hours and not before', async server => {
    const { id, login } = await newChannel(server)
    await goLive(server, id)
    const [{ access_token: token }] = await server.control('POST', '/tokens', {
      client_id: server.world.client.id,
      user_id: id,
      scopes: SCOPES,
      expires_in: 200_000,
    })
    const channel = { id, login, token }
    const first = await mark(server, channel, keyed('day'))
    await server.control('POST', '/clock', { advance_seconds: 24 * 3600 - 60 })
    expect(await mark(server, channel, keyed('day'))).toEqual(first)
    await server.control('POST', '/clock', { advance_seconds: 61 })
    const other = await mark(server, channel, { ...keyed('day'), body: { user_id: id, description: 'new' } })
    expect(other.id).not.toBe(first.id)
  })

  fails('idempotency_key_reused', 'with another description', async server => {
    const channel = await newLiveChannel(server)
    await mark(server, channel, keyed('used'))
    const body = { user_id: channel.id, description: 'other' }
    return ask(server, { token: channel.token, body, ...keyed('used') })
  })
  fails('idempotency_key_reused', 'with another channel', async server => {
    const channel = await newLiveChannel(server)
    await mark(server, channel, keyed('used'))
    const body = { user_id: server.world.broadcaster.id }
    return ask(server, { token: channel.token, body, ...keyed('used') })
  })
  fails('bad_idempotency_key', 'with a space or another letter that is not visible ASCII', async server => {
    for (const key of ['a b', 'caf\u00e9', 'a\tb']) {
      expectProblem(
        createStreamMarker,
        await ask(server, { ...valid(server), ...keyed(key) }),
        'bad_idempotency_key',
      )
    }
    return ask(server, { ...valid(server), ...keyed('   ') })
  })

  fails(
    'malformed_parameter',
    'with a description of 141 code points, however few they look',
    async server => {
      const { id: user_id } = server.world.broadcaster
      for (const description of [
        'x'.repeat(141),
        '\u{1F98A}'.repeat(141),
        `x${'e\u0301'.repeat(70)}`,
        // One family is one picture and seven code points.
        '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466}'.repeat(21),
        ' '.repeat(141),
      ]) {
        const byBody = await ask(server, { ...valid(server), body: { user_id, description } })
        expectProblem(createStreamMarker, byBody, 'malformed_parameter')
        const byQuery = await ask(server, {
          ...valid(server),
          body: undefined,
          query: { user_id, description },
        })
        expectProblem(createStreamMarker, byQuery, 'malformed_parameter')
      }
      return ask(server, { ...valid(server), body: { user_id, description: 'x'.repeat(5000) } })
    },
  )
  fails('malformed_parameter', 'with a NUL in the query', server => {
    const { id } = server.world.broadcaster
    return ask(server, { ...valid(server), body: undefined, search: `user_id=${id}&description=a%00b` })
  })
  fails('malformed_parameter', 'when user_id is neither text nor a whole number', async server => {
    let answer: Answer | undefined
    for (const user_id of [1.5, null, {}, [server.world.broadcaster.id], 1e300, false]) {
      answer = await ask(server, { ...valid(server), body: { user_id } })
      expectProblem(createStreamMarker, answer, 'malformed_parameter')
    }
    return answer as Answer
  })
  fails('malformed_parameter', 'when the description is nested beyond all reason', server => {
    const depth = 30_000
    const rawBody = `{"user_id":"1","description":${'['.repeat(depth)}${']'.repeat(depth)}}`
    return ask(server, { ...valid(server), body: undefined, rawBody })
  })
  fails('missing_parameter', 'with nothing at all', async server =>
    withMessage(
      await ask(server, { token: server.world.broadcaster.token }),
      'Missing required parameter "user_id"',
    ),
  )
  fails('missing_parameter', 'when user_id is empty in the body', server =>
    ask(server, { ...valid(server), body: { user_id: '' } }),
  )
  fails('repeated_parameter', 'when user_id is given twice in the query', server => {
    const { id } = server.world.broadcaster
    return ask(server, { ...valid(server), body: undefined, query: { user_id: [id, id] } })
  })
  fails('repeated_parameter', 'when body and query do not agree', server =>
    ask(server, { ...valid(server), query: { user_id: server.world.viewer.id } }),
  )
  fails('repeated_parameter', 'when body and query do not agree on the description', server =>
    ask(server, { ...valid(server), query: { description: 'another' } }),
  )

  fails('user_not_found', 'when there is no such user', server =>
    ask(server, { ...valid(server), body: { user_id: '999' } }),
  )
  fails('user_not_found', 'when the id is no number', server =>
    ask(server, { ...valid(server), body: { user_id: 'abc' } }),
  )
  fails('not_live', 'when the channel never streamed', async server => {
    const { id, token } = await newChannel(server)
    return ask(server, { token, body: { user_id: id } })
  })
  fails('not_live', 'as soon as the stream has ended', async server => {
    const channel = await newLiveChannel(server)
    await mark(server, channel)
    await goOffline(server, channel.id)
    return ask(server, { token: channel.token, body: { user_id: channel.id } })
  })
  fails('not_live', 'even to a user who might not mark it anyway', server =>
    ask(server, { ...valid(server), body: { user_id: server.world.offline.id } }),
  )
  const withoutVideos = async (server: TestServer) => {
    const channel = await newChannel(server)
    await server.control('PATCH', `/channels/${channel.id}`, { vod_enabled: false })
    await goLive(server, channel.id)
    return channel
  }
  fails('vods_off', 'when the channel keeps no videos', async server => {
    const { id, token } = await withoutVideos(server)
    return ask(server, { token, body: { user_id: id } })
  })
  fails('vods_off', 'even to a user who might not mark it anyway', async server => {
    const { id } = await withoutVideos(server)
    return ask(server, { ...valid(server), body: { user_id: id } })
  })
  fails('vods_off', 'when videos are switched off while live', async server => {
    const channel = await newLiveChannel(server)
    await mark(server, channel)
    await server.control('PATCH', `/channels/${channel.id}`, { vod_enabled: false })
    return ask(server, { token: channel.token, body: { user_id: channel.id } })
  })
  ok('when videos are switched on while live, the position still counts from the start', async server => {
    const channel = await newChannel(server)
    await server.control('PATCH', `/channels/${channel.id}`, { vod_enabled: false })
    await goLive(server, channel.id, { started_at: ago(300) })
    await server.control('PATCH', `/channels/${channel.id}`, { vod_enabled: true })
    expect((await mark(server, channel)).position_seconds).toBeGreaterThanOrEqual(300)
  })

  fails('marker_forbidden', 'when the caller is neither broadcaster nor editor', async server =>
    withMessage(
      await ask(server, { ...valid(server), token: server.world.viewer.token }),
      `Not authorized to create a stream marker for channel ${server.world.broadcaster.login}.`,
    ),
  )
  fails('marker_forbidden', "to an editor of another user's channel", async server => {
    const channel = await newLiveChannel(server)
    return ask(server, { token: server.world.editor.token, body: { user_id: channel.id } })
  })
  fails('marker_forbidden', 'to the broadcaster on the channel of an editor', async server => {
    const channel = await newLiveChannel(server)
    const editor = await newLiveChannel(server)
    await server.control('PUT', `/channels/${channel.id}/editors/${editor.id}`)
    return ask(server, { token: channel.token, body: { user_id: editor.id } })
  })
})
