import { expect } from 'bun:test'
import { getFollowedStreams } from '../../../src/contract/helix/get-followed-streams.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { tokenOf } from './callers.ts'
import { goLive, goOffline, type NewChannel, newChannel, newLiveChannel } from './channels.ts'
import { cursorOf, idsOf, provePages, type Row, walk, withMessage } from './page-rules.ts'

const SCOPES = ['user:read:follows']
const ask = (server: TestServer, changes: Ask = {}) => send(server, getFollowedStreams, changes)
const valid = ({ world }: TestServer): Ask => ({
  token: world.viewer.token,
  query: { user_id: world.viewer.id },
})
const asUser = ({ id, token }: { id: string; token: string }): Ask => ({ token, query: { user_id: id } })

const follow = (server: TestServer, user_id: string, broadcaster_ids: readonly string[]) =>
  server.control('POST', '/follows', {
    follows: broadcaster_ids.map(broadcaster_id => ({ user_id, broadcaster_id })),
  })
const liveStreams = async (server: TestServer): Promise<Row[]> => {
  const rows: Row[] = []
  let after: string | undefined
  do {
    const page = await server.call({ path: '/helix/streams', query: { first: 100, after } })
    rows.push(...page.body.data)
    after = cursorOf(page)
  } while (after !== undefined)
  return rows
}
/** A user who follows every channel that the world began with. */
const newFan = async (server: TestServer): Promise<NewChannel & { follows: string[] }> => {
  const fan = await newChannel(server, SCOPES)
  const follows = (await liveStreams(server)).map(row => row.user_id)
  await follow(server, fan.id, follows)
  return { ...fan, follows }
}
const inOrder = (rows: readonly Row[]) =>
  rows.toSorted((a, b) => b.viewer_count - a.viewer_count || Number(BigInt(b.id) - BigInt(a.id)))

describeOperation(getFollowedStreams, { valid, server: { streams: 130 } }, proofs => {
  const { ok, fails } = proofs

  provePages(proofs, {
    operation: getFollowedStreams,
    ask: valid,
    otherCallers: async server => [
      await tokenOf(server, {
        client_id: server.world.other_client.id,
        user_id: server.world.viewer.id,
        scopes: SCOPES,
      }),
    ],
  })

  ok('lists the same rows as GetStreams, in the same order', async server => {
    const fan = await newFan(server)
    const rows = await walk(server, getFollowedStreams, asUser(fan), () => 100)
    expect(rows).toEqual(await liveStreams(server))
    expect(idsOf(rows)).toEqual(idsOf(inOrder(rows)))
  })

  ok('channels that are not live, or not followed, are absent', async server => {
    const fan = await newChannel(server, SCOPES)
    const [followed, offline, stranger] = [
      await newLiveChannel(server),
      await newChannel(server),
      await newLiveChannel(server),
    ]
    await follow(server, fan.id, [followed.id, offline.id])
    await follow(server, followed.id, [stranger.id, fan.id])
    const answer = await ask(server, asUser(fan))
    expect(answer.body.data.map((row: Row) => row.user_id)).toEqual([followed.id])
    expect(answer.body.pagination).toEqual({})
  })

  ok('a user who follows no channel gets an empty list', async server => {
    const fan = await newChannel(server, SCOPES)
    expect((await ask(server, asUser(fan))).body).toEqual({ data: [], pagination: {} })
  })

  ok('100 rows without first, and the rest behind them', async server => {
    const fan = await newFan(server)
    const page = await ask(server, asUser(fan))
    expect(page.body.data).toHaveLength(100)
    const rest = await ask(server, { ...asUser(fan), search: `after=${cursorOf(page)}` })
    expect(rest.body.data).toHaveLength(fan.follows.length - 100)
    expect(rest.body.pagination).toEqual({})
  })

  ok('before is ignored, whatever its value', async server => {
    const plain = await ask(server, { ...valid(server), search: 'first=3' })
    const cursor = cursorOf(plain)
    for (const before of ['', 'rubbish', cursor]) {
      const answer = await ask(server, { ...valid(server), search: `first=3&before=${before}` })
      expect(answer.body.data).toEqual(plain.body.data)
    }
    const next = await ask(server, { ...valid(server), search: `first=3&after=${cursor}&before=x` })
    expect(next.status).toBe(200)
    expect(idsOf(next.body.data)).not.toEqual(idsOf(plain.body.data))
  })

  ok('sees a start, an end, a change, a follow and its end at once', async server => {
    const fan = await newChannel(server, SCOPES)
    const channel = await newChannel(server)
    const rows = async (): Promise<Row[]> => (await ask(server, asUser(fan))).body.data
    const path = `/users/${fan.id}/follows/${channel.id}`
    await server.control('PUT', path)
    expect(await rows()).toEqual([])
    const stream = await goLive(server, channel.id, { viewer_count: 7 })
    expect(await rows()).toEqual([stream])
    await server.control('PATCH', `/channels/${channel.id}`, { title: 'Something new', language: 'de' })
    expect(await rows()).toEqual([{ ...stream, title: 'Something new', language: 'de' }])
    await server.control('DELETE', path)
    expect(await rows()).toEqual([])
    await server.control('PUT', path)
    await goOffline(server, channel.id)
    expect(await rows()).toEqual([])
  })

  ok('a walk shows what is live throughout exactly once, though everything moves', async server => {
    const fan = await newFan(server)
    const leaving = fan.follows.filter((_, index) => index % 13 === 5)
    const late = await Promise.all(Array.from({ length: 6 }, () => newChannel(server)))
    await follow(
      server,
      fan.id,
      late.map(channel => channel.id),
    )
    const steady = fan.follows.filter(id => !leaving.includes(id))
    let turn = 0
    const seen = await walk(
      server,
      getFollowedStreams,
      asUser(fan),
      page => 3 + (page % 11),
      async () => {
        turn += 1
        const counts = Object.fromEntries(
          fan.follows.map((id, index) => [id, (index * 7919 * turn) % 20_011]),
        )
        await server.control('POST', '/viewers', { counts })
        const [gone, come] = [leaving[turn], late[turn]]
        if (gone !== undefined) await goOffline(server, gone)
        if (come !== undefined) await goLive(server, come.id, { viewer_count: 15_000 })
      },
    )
    const users = seen.map(row => row.user_id)
    expect(new Set(users).size).toBe(users.length)
    expect(steady.filter(id => !users.includes(id))).toEqual([])
    for (const id of leaving) if (!users.includes(id)) await goLive(server, id)
  })

  fails('invalid_cursor', 'when the cursor is of GetStreams', async server => {
    const { token } = server.world.viewer
    const page = await server.call({ path: '/helix/streams', token, query: { first: 1 } })
    return withMessage(
      await ask(server, { ...valid(server), search: `after=${cursorOf(page)}` }),
      'invalid cursor',
    )
  })
  fails('missing_parameter', 'naming user_id', async server =>
    withMessage(await ask(server, { ...valid(server), query: {} }), 'Missing required parameter "user_id"'),
  )
  for (const [title, idOf] of [
    ['another user', ({ world }: TestServer) => world.broadcaster.id],
    ['a user that does not exist', () => '999'],
    ['no number', () => 'abc'],
    ['the own id with a zero in front', ({ world }: TestServer) => `0${world.viewer.id}`],
  ] as const) {
    fails('identity_mismatch', `when user_id is ${title}`, async server =>
      withMessage(
        await ask(server, { ...valid(server), query: { user_id: idOf(server) } }),
        "The ID in user_id must match the user ID found in the request's OAuth token.",
      ),
    )
  }
  fails('malformed_parameter', 'parameters are looked at before the identity', server =>
    ask(server, { ...valid(server), query: { user_id: server.world.broadcaster.id, first: 0 } }),
  )
})
