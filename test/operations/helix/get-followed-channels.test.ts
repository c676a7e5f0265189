import { expect } from 'bun:test'
import { getFollowedChannels } from '../../../src/contract/helix/get-followed-channels.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { tokenOf } from './callers.ts'
import { type NewChannel, newChannel } from './channels.ts'
import { follow, inFollowOrder, newUsers, nextSecond, unfollow } from './follows.ts'
import { cursorOf, provePages, type Row, walk, withMessage } from './page-rules.ts'

const SCOPES = ['user:read:follows']
const ask = (server: TestServer, changes: Ask = {}) => send(server, getFollowedChannels, changes)
const asUser = ({ id, token }: { id: string; token: string }): Ask => ({ token, query: { user_id: id } })
const valid = ({ world }: TestServer): Ask => asUser(world.viewer)
const idOf = (row: Row): string => row.broadcaster_id

/** A user who follows some channels each second, several in the same one. */
async function newFan(
  server: TestServer,
  seconds: number,
  each: number,
): Promise<NewChannel & { follows: string[] }> {
  const fan = await newChannel(server, SCOPES)
  const follows: string[] = []
  for (let second = 0; second < seconds; second++) {
    const ids = await newUsers(server, each)
    await follow(
      server,
      ids.map(broadcaster_id => ({ user_id: fan.id, broadcaster_id })),
    )
    await nextSecond(server)
    follows.push(...ids)
  }
  return { ...fan, follows }
}

describeOperation(getFollowedChannels, { valid }, proofs => {
  const { ok, fails } = proofs

  const fans = new Map<TestServer, Promise<NewChannel>>()
  const sharedFan = (server: TestServer) => {
    const fan = fans.get(server) ?? newFan(server, 4, 6)
    fans.set(server, fan)
    return fan
  }
  provePages(proofs, {
    operation: getFollowedChannels,
    ask: async server => asUser(await sharedFan(server)),
    idOf,
    otherFilters: async server => ({ user_id: (await sharedFan(server)).id, broadcaster_id: '1' }),
    otherCallers: async server => [
      await tokenOf(server, {
        client_id: server.world.other_client.id,
        user_id: (await sharedFan(server)).id,
        scopes: SCOPES,
      }),
    ],
  })

  ok('a row has exactly the four fields, and the time in whole seconds', async server => {
    const fan = await newChannel(server, SCOPES)
    const channel = await newChannel(server)
    await follow(server, [{ user_id: fan.id, broadcaster_id: channel.id }])
    const answer = await ask(server, asUser(fan))
    expect(answer.body).toEqual({
      total: 1,
      data: [
        {
          broadcaster_id: channel.id,
          broadcaster_login: channel.login,
          broadcaster_name: channel.login,
          followed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        },
      ],
      pagination: {},
    })
  })

  ok('the latest follow first, then the highest id as a number', async server => {
    const fan = await newFan(server, 3, 8)
    const rows = await walk(server, getFollowedChannels, asUser(fan), () => 5)
    expect(rows.map(idOf).toSorted()).toEqual(fan.follows.toSorted())
    expect(rows).toEqual(inFollowOrder(rows, idOf))
    expect(new Set(rows.map(row => row.followed_at)).size).toBe(3)
    expect(new Set(rows.map(row => idOf(row).length)).size).toBeGreaterThan(3)
  })

  ok('20 rows without first, and total counts all', async server => {
    const fan = await newFan(server, 1, 23)
    const answer = await ask(server, asUser(fan))
    expect([answer.body.data.length, answer.body.total]).toEqual([20, 23])
    const rest = await ask(server, { ...asUser(fan), search: `after=${cursorOf(answer)}` })
    expect([rest.body.data.length, rest.body.total]).toEqual([3, 23])
    expect(rest.body.pagination).toEqual({})
  })

  ok('a user who follows nothing gets total 0', async server => {
    const fan = await newChannel(server, SCOPES)
    expect((await ask(server, asUser(fan))).body).toEqual({ total: 0, data: [], pagination: {} })
  })

  ok('with broadcaster_id that channel only, and total still counts all', async server => {
    const fan = await newFan(server, 2, 3)
    const asking = async (broadcaster_id: string) =>
      (await ask(server, { token: fan.token, query: { user_id: fan.id, broadcaster_id } })).body
    for (const id of fan.follows) {
      const { data, total, pagination } = await asking(id)
      expect({ ids: data.map(idOf), total, pagination }).toEqual({ ids: [id], total: 6, pagination: {} })
    }
    for (const id of [fan.id, server.world.broadcaster.id, '999', 'abc', `0${fan.follows[0]}`]) {
      expect(await asking(id)).toEqual({ total: 6, data: [], pagination: {} })
    }
  })

  ok('before is ignored, whatever it is', async server => {
    const fan = await sharedFan(server)
    const plain = await ask(server, { ...asUser(fan), search: 'first=3' })
    for (const before of ['', 'rubbish', cursorOf(plain)]) {
      const answer = await ask(server, { ...asUser(fan), search: `first=3&before=${before}` })
      expect(answer.body).toEqual(plain.body)
    }
  })

  ok('a follow, its end and the end of a channel are seen at once', async server => {
    const fan = await newChannel(server, SCOPES)
    const [kept, ended, deleted] = (await newUsers(server, 3)) as [string, string, string]
    await follow(
      server,
      [kept, ended, deleted].map(broadcaster_id => ({ user_id: fan.id, broadcaster_id })),
    )
    expect((await ask(server, asUser(fan))).body.total).toBe(3)
    await unfollow(server, { user_id: fan.id, broadcaster_id: ended })
    await server.control('DELETE', `/users/${deleted}`)
    const { data, total } = (await ask(server, asUser(fan))).body
    expect([data.map(idOf), total]).toEqual([[kept], 1])
  })

  ok('a walk under change shows what was followed throughout exactly once', async server => {
    const fan = await newFan(server, 4, 8)
    const leaving = fan.follows.filter((_, index) => index % 5 === 2)
    const steady = fan.follows.filter(id => !leaving.includes(id))
    const seen = await walk(
      server,
      getFollowedChannels,
      asUser(fan),
      page => 1 + ((page * 5) % 4),
      async () => {
        const gone = leaving.pop()
        if (gone !== undefined) await unfollow(server, { user_id: fan.id, broadcaster_id: gone })
        const [come = ''] = await newUsers(server, 1)
        await follow(server, [{ user_id: fan.id, broadcaster_id: come }])
      },
    )
    const ids = seen.map(idOf)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter(id => steady.includes(id))).toHaveLength(steady.length)
  })

  fails('missing_parameter', 'naming user_id', async server =>
    withMessage(await ask(server, { ...valid(server), query: {} }), 'Missing required parameter "user_id"'),
  )
  for (const [title, idOfOther] of [
    ['another user', ({ world }: TestServer) => world.broadcaster.id],
    ['a user that does not exist', () => '999'],
    ['not a number', () => 'abc'],
  ] as const) {
    fails('identity_mismatch', `when user_id is ${title}`, async server =>
      withMessage(
        await ask(server, { ...valid(server), query: { user_id: idOfOther(server) } }),
        "The ID in user_id must match the user ID found in the request's OAuth token.",
      ),
    )
  }
  fails('malformed_parameter', 'parameters are checked before the identity', server =>
    ask(server, { ...valid(server), query: { user_id: server.world.broadcaster.id, first: 0 } }),
  )
})
