import { expect } from 'bun:test'
import { deleteFollow, listFollows, putFollow, putFollows } from '../../../src/contract/control/follows.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import {
  asOperator,
  expectEmpty,
  exported,
  idsOf,
  naming,
  newUser,
  nowOf,
  tokenOf,
  walk,
} from './operator.ts'

interface Pair {
  readonly user_id: string
  readonly broadcaster_id: string
}

const at = (user_id: string, broadcaster_id: string) => `/control/users/${user_id}/follows/${broadcaster_id}`
const follow = (server: TestServer, user_id: string, broadcaster_id: string, body?: object) =>
  send(server, putFollow, asOperator(server, { path: at(user_id, broadcaster_id), ...(body && { body }) }))
const unfollow = (server: TestServer, user_id: string, broadcaster_id: string) =>
  send(server, deleteFollow, asOperator(server, { path: at(user_id, broadcaster_id) }))
const followAll = (server: TestServer, follows: readonly object[]) =>
  send(server, putFollows, asOperator(server, { body: { follows } }))

/** The live channels that a user follows, as GetFollowedStreams shows them. */
async function followed(server: TestServer, user_id: string): Promise<string[]> {
  const token = await tokenOf(server, user_id)
  const answer = await server.call({ path: '/helix/streams/followed', query: { user_id }, token })
  return answer.body.data.map((stream: { user_id: string }) => stream.user_id)
}

/** When the user followed each of these channels. */
async function followTimes(server: TestServer, user_id: string, channels: readonly string[]) {
  const follows = (await exported(server, 'follow')).filter(line => line.user_id === user_id)
  return channels.map(id => follows.find(line => line.broadcaster_id === id)?.followed_at)
}

const tomorrow = (server: TestServer) => new Date(nowOf(server) + 86_400_000).toISOString()

async function newUsers(server: TestServer, count: number): Promise<string[]> {
  const ids: string[] = []
  // A few at a time: on a busy machine a hundred would wait for one another for longer than writes wait.
  while (ids.length < count) {
    const some = Array.from({ length: Math.min(10, count - ids.length) }, () => newUser(server))
    for (const user of await Promise.all(some)) ids.push(user.id)
  }
  return ids
}

describeOperation(
  putFollow,
  {
    valid: server => asOperator(server, { path: at(server.world.viewer.id, server.world.broadcaster.id) }),
  },
  ({ ok, fails }) => {
    ok('the stream is among the followed ones at once; a repeat changes nothing', async server => {
      const { broadcaster } = server.world
      const user = await newUser(server)
      expect(await followed(server, user.id)).toEqual([])
      for (const _ of [1, 2]) expectEmpty(await follow(server, user.id, broadcaster.id))
      expect(await followed(server, user.id)).toEqual([broadcaster.id])
    })

    ok('a channel that is offline can be followed and shows when it goes live', async server => {
      const [fan = '', star = ''] = await newUsers(server, 2)
      expectEmpty(await follow(server, fan, star))
      expect(await followed(server, fan)).toEqual([])
      await server.control('PUT', `/channels/${star}/stream`, {})
      expect(await followed(server, fan)).toEqual([star])
      expect(await followed(server, star)).toEqual([])
    })

    ok('takes a time in whole seconds; without one it is now (D-94)', async server => {
      const [fan = '', star = '', other = ''] = await newUsers(server, 3)
      expectEmpty(await follow(server, fan, star, { followed_at: '2026-01-02T03:04:05.678Z' }))
      const before = nowOf(server)
      expectEmpty(await follow(server, fan, other, {}))
      const [given, now] = await followTimes(server, fan, [star, other])
      expect(given).toBe('2026-01-02T03:04:05Z')
      expect(Date.parse(now)).toBeWithin(before - 1000, nowOf(server) + 1)
    })

    ok('again with another time, it has that; again without one, it keeps its time (D-94)', async server => {
      const [fan = '', star = ''] = await newUsers(server, 2)
      await follow(server, fan, star)
      for (const followed_at of ['2026-01-02T03:04:05Z', '2026-01-03T03:04:05Z']) {
        expectEmpty(await follow(server, fan, star, { followed_at }))
        expectEmpty(await follow(server, fan, star))
        expect(await followTimes(server, fan, [star])).toEqual([followed_at])
      }
    })

    fails('refused_reference', 'when the time is in the future, and adds nothing', async server => {
      const [fan = '', star = ''] = await newUsers(server, 2)
      const answer = await naming('followed_at', follow(server, fan, star, { followed_at: tomorrow(server) }))
      expect(await followTimes(server, fan, [star])).toEqual([undefined])
      return answer
    })
    fails('refused_reference', 'when there is no such day', server =>
      follow(server, server.world.viewer.id, server.world.offline.id, {
        followed_at: '2026-02-30T12:00:00Z',
      }),
    )
    fails('malformed_parameter', 'when the time is a day', server =>
      naming(
        'followed_at',
        follow(server, server.world.viewer.id, server.world.offline.id, { followed_at: '2026-01-02' }),
      ),
    )
    fails('not_found', 'when the user does not exist', server =>
      naming('999', follow(server, '999', server.world.broadcaster.id)),
    )
    fails('not_found', 'when the channel does not exist', server =>
      naming('998', follow(server, server.world.viewer.id, '998')),
    )
  },
)

describeOperation(
  deleteFollow,
  {
    valid: async server => {
      const { viewer, broadcaster } = server.world
      await follow(server, viewer.id, broadcaster.id)
      return asOperator(server, { path: at(viewer.id, broadcaster.id) })
    },
  },
  ({ ok, fails }) => {
    ok('the stream is gone from the followed ones at once', async server => {
      const { broadcaster } = server.world
      const user = await newUser(server)
      await follow(server, user.id, broadcaster.id)
      expectEmpty(await unfollow(server, user.id, broadcaster.id))
      expect(await followed(server, user.id)).toEqual([])
    })

    fails('not_found', 'when there is no such follow', async server =>
      unfollow(server, (await newUser(server)).id, server.world.broadcaster.id),
    )
    fails('not_found', 'when the user does not exist', server =>
      unfollow(server, '999', server.world.broadcaster.id),
    )
  },
)

describeOperation(
  putFollows,
  {
    valid: server => {
      const { viewer, broadcaster } = server.world
      return asOperator(server, {
        body: { follows: [{ user_id: viewer.id, broadcaster_id: broadcaster.id }] },
      })
    },
  },
  ({ ok, fails }) => {
    ok('adds all of them; those that are there already, or twice, are fine', async server => {
      const { broadcaster, users } = server.world
      const { id: user_id } = await newUser(server)
      await follow(server, user_id, broadcaster.id)
      const other = users.at(-1)?.id ?? ''
      const pairs = [other, broadcaster.id, other].map(broadcaster_id => ({ user_id, broadcaster_id }))
      expectEmpty(await followAll(server, pairs))
      expect((await followed(server, user_id)).sort()).toEqual([broadcaster.id, other].sort())
    })

    ok('takes 10,000 at once', async server => {
      const people = await newUsers(server, 100)
      const pairs = people.flatMap(user_id =>
        people.map((broadcaster_id): Pair => ({ user_id, broadcaster_id })),
      )
      expect(pairs).toHaveLength(10_000)
      expectEmpty(await followAll(server, pairs))
      const [fan = '', star = ''] = people
      await server.control('PUT', `/channels/${star}/stream`, {})
      expect(await followed(server, fan)).toEqual([star])
      expect(await followed(server, people.at(-1) ?? '')).toEqual([star])
    })

    ok('each may have a time; of one that is there twice, the earlier counts (D-94)', async server => {
      const [user_id = '', star = '', other = '', third = ''] = await newUsers(server, 4)
      expectEmpty(
        await followAll(server, [
          { user_id, broadcaster_id: star, followed_at: '2026-01-02T03:04:05.999Z' },
          { user_id, broadcaster_id: other },
          { user_id, broadcaster_id: third, followed_at: '2026-01-03T00:00:00Z' },
          { user_id, broadcaster_id: third, followed_at: '2026-01-02T00:00:00Z' },
          { user_id, broadcaster_id: star },
        ]),
      )
      const times = await followTimes(server, user_id, [star, other, third])
      expect([times[0], times[2]]).toEqual(['2026-01-02T03:04:05Z', '2026-01-02T00:00:00Z'])
      expect(Date.parse(times[1])).toBeWithin(nowOf(server) - 60_000, nowOf(server) + 1)
    })

    fails('refused_reference', 'when one time is in the future, and adds none', async server => {
      const [user_id = '', star = '', other = ''] = await newUsers(server, 3)
      const answer = await followAll(server, [
        { user_id, broadcaster_id: star },
        { user_id, broadcaster_id: other, followed_at: tomorrow(server) },
      ])
      expect(await followTimes(server, user_id, [star, other])).toEqual([undefined, undefined])
      return answer
    })
    fails('malformed_parameter', 'when a time is a number', server =>
      followAll(server, [
        { user_id: server.world.viewer.id, broadcaster_id: server.world.broadcaster.id, followed_at: 5 },
      ]),
    )
    fails('unknown_reference', 'when one user does not exist, and adds none', async server => {
      const { broadcaster } = server.world
      const { id: user_id } = await newUser(server)
      const answer = naming(
        '999',
        followAll(server, [
          { user_id, broadcaster_id: broadcaster.id },
          { user_id: '999', broadcaster_id: broadcaster.id },
        ]),
      )
      await answer
      expect(await followed(server, user_id)).toEqual([])
      return answer
    })
    fails('unknown_reference', 'when one channel does not exist', server =>
      naming('998', followAll(server, [{ user_id: server.world.viewer.id, broadcaster_id: '998' }])),
    )
    fails('malformed_parameter', 'when there are 10,001', server => {
      const pair = { user_id: server.world.viewer.id, broadcaster_id: server.world.broadcaster.id }
      return naming('follows', followAll(server, Array(10_001).fill(pair)))
    })
    fails('malformed_parameter', 'when there is none', server => followAll(server, []))
    fails('malformed_parameter', 'when an id is not a number', server =>
      followAll(server, [{ user_id: 'abc', broadcaster_id: server.world.broadcaster.id }]),
    )
    fails('missing_parameter', 'when a pair is half', server =>
      followAll(server, [{ user_id: server.world.viewer.id }]),
    )
  },
)

describeOperation(
  listFollows,
  { valid: server => asOperator(server, { path: `/control/users/${server.world.viewer.id}/follows` }) },
  ({ ok, fails }) => {
    const list = (server: TestServer, user_id: string) =>
      send(server, listFollows, asOperator(server, { path: `/control/users/${user_id}/follows` }))

    ok('lists the channels that the user follows, live or not, page by page', async server => {
      const [fan = '', ...stars] = await newUsers(server, 6)
      expect((await list(server, fan)).body).toEqual({ data: [], pagination: {} })
      await followAll(
        server,
        stars.map(broadcaster_id => ({ user_id: fan, broadcaster_id })),
      )
      await follow(server, stars[0] ?? '', fan)
      const { data } = (await list(server, fan)).body
      expect(idsOf(data)).toEqual(stars.toSorted())
      expect(data[0]).toEqual((await server.control('GET', `/users/${data[0].id}`))[0])
      expect(await walk(server, `/control/users/${fan}/follows`, { first: 2 })).toEqual(data)
    })

    fails('not_found', 'when the user does not exist', server => naming('999', list(server, '999')))
  },
)
