import { expect } from 'bun:test'
import { getChannelFollowers } from '../../../src/contract/helix/get-channel-followers.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { tokenOf } from './callers.ts'
import { type NewChannel, newChannel } from './channels.ts'
import { countedWalk, follow, inFollowOrder, newUsers, nextSecond, unfollow } from './follows.ts'
import { cursorOf, provePages, type Row, walk, withMessage } from './page-rules.ts'

const SCOPES = ['moderator:read:followers']
const ask = (server: TestServer, changes: Ask = {}) => send(server, getChannelFollowers, changes)
const ofChannel = ({ id, token }: { id: string; token: string }): Ask => ({
  token,
  query: { broadcaster_id: id },
})
/** With `user_id`, so that every caller needs the right to rows. */
const valid = ({ world }: TestServer): Ask => ({
  token: world.broadcaster.token,
  query: { broadcaster_id: world.broadcaster.id, user_id: world.viewer.id },
})
const idOf = (row: Row): string => row.user_id
const onlyTotal = (total: number) => ({ total, data: [], pagination: {} })

/** A channel that is followed by some users each second. */
async function newStar(
  server: TestServer,
  seconds: number,
  each: number,
): Promise<NewChannel & { followers: string[] }> {
  const star = await newChannel(server, SCOPES)
  const followers: string[] = []
  for (let second = 0; second < seconds; second++) {
    const ids = await newUsers(server, each)
    await follow(
      server,
      ids.map(user_id => ({ user_id, broadcaster_id: star.id })),
    )
    await nextSecond(server)
    followers.push(...ids)
  }
  return { ...star, followers }
}

const newEditor = async (server: TestServer, channel: NewChannel, scopes: readonly string[]) => {
  const editor = await newChannel(server, scopes)
  await server.control('PUT', `/channels/${channel.id}/editors/${editor.id}`)
  return editor
}

describeOperation(getChannelFollowers, { valid }, proofs => {
  const { ok, fails } = proofs

  const stars = new Map<TestServer, Promise<NewChannel & { followers: string[] }>>()
  const sharedStar = (server: TestServer) => {
    const star = stars.get(server) ?? newStar(server, 4, 6)
    stars.set(server, star)
    return star
  }
  provePages(proofs, {
    operation: getChannelFollowers,
    ask: async server => ofChannel(await sharedStar(server)),
    idOf,
    otherFilters: async server => ({ broadcaster_id: (await sharedStar(server)).id, user_id: '1' }),
    otherCallers: async server => {
      const star = await sharedStar(server)
      const of = { client_id: server.world.other_client.id, user_id: star.id, scopes: SCOPES }
      return [await tokenOf(server, of), (await newEditor(server, star, SCOPES)).token]
    },
  })

  ok('a row has exactly the four fields, and the time in whole seconds', async server => {
    const star = await newChannel(server, SCOPES)
    const fan = await newChannel(server)
    await follow(server, [{ user_id: fan.id, broadcaster_id: star.id }])
    const answer = await ask(server, ofChannel(star))
    expect(answer.body).toEqual({
      total: 1,
      data: [
        {
          user_id: fan.id,
          user_login: fan.login,
          user_name: fan.login,
          followed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        },
      ],
      pagination: {},
    })
  })

  ok('the latest follow first, then the highest id as a number', async server => {
    const star = await newStar(server, 3, 8)
    const { rows, totals } = await countedWalk(server, getChannelFollowers, ofChannel(star), () => 5)
    expect(rows.map(idOf).toSorted()).toEqual(star.followers.toSorted())
    expect(rows).toEqual(inFollowOrder(rows, idOf))
    expect(new Set(rows.map(row => row.followed_at)).size).toBe(3)
    expect(new Set(totals)).toEqual(new Set([24]))
  })

  ok('20 rows without first, and total counts all', async server => {
    const star = await newStar(server, 1, 22)
    const answer = await ask(server, ofChannel(star))
    expect([answer.body.data.length, answer.body.total]).toEqual([20, 22])
  })

  ok('an editor with the scope gets the rows of the broadcaster', async server => {
    const star = await sharedStar(server)
    const editor = await newEditor(server, star, SCOPES)
    const own = await ask(server, ofChannel(star))
    const edited = await ask(server, { ...ofChannel(star), token: editor.token })
    expect(edited.body.data).toEqual(own.body.data)
    await server.control('DELETE', `/channels/${star.id}/editors/${editor.id}`)
    expect((await ask(server, { ...ofChannel(star), token: editor.token })).body).toEqual(onlyTotal(24))
  })

  ok('all other callers get the total alone', async server => {
    const star = await sharedStar(server)
    const { client } = server.world
    const callers = {
      'an app': client.app_token,
      'a stranger with the scope': (await newChannel(server, SCOPES)).token,
      'a stranger without it': (await newChannel(server, [])).token,
      'an editor without the scope': (await newEditor(server, star, ['user:read:follows'])).token,
      'the broadcaster without the scope': await tokenOf(server, {
        client_id: client.id,
        user_id: star.id,
        scopes: [],
      }),
    }
    for (const [caller, token] of Object.entries(callers)) {
      const { body } = await ask(server, { ...ofChannel(star), token })
      expect({ caller, body }).toEqual({ caller, body: onlyTotal(24) })
    }
  })

  ok('an unknown broadcaster has total 0', async server => {
    for (const broadcaster_id of ['999', 'abc', '0', `0${server.world.broadcaster.id}`, '9'.repeat(400)]) {
      for (const token of [server.world.client.app_token, server.world.viewer.token]) {
        const answer = await ask(server, { token, query: { broadcaster_id } })
        expect(answer.body).toEqual(onlyTotal(0))
      }
    }
  })

  ok('with user_id that follower only, and total still counts all', async server => {
    const star = await newStar(server, 2, 3)
    const asking = async (user_id: string) =>
      (await ask(server, { token: star.token, query: { broadcaster_id: star.id, user_id } })).body
    for (const id of star.followers) {
      const { data, total, pagination } = await asking(id)
      expect({ ids: data.map(idOf), total, pagination }).toEqual({ ids: [id], total: 6, pagination: {} })
    }
    for (const id of [star.id, '999', 'abc']) expect(await asking(id)).toEqual(onlyTotal(6))
  })

  ok('before is ignored, whatever it is', async server => {
    const star = await sharedStar(server)
    const plain = await ask(server, { ...ofChannel(star), search: 'first=3' })
    for (const before of ['', 'rubbish', cursorOf(plain)]) {
      const answer = await ask(server, { ...ofChannel(star), search: `first=3&before=${before}` })
      expect(answer.body).toEqual(plain.body)
    }
  })

  ok('a walk under change shows who followed throughout exactly once', async server => {
    const star = await newStar(server, 4, 8)
    const leaving = star.followers.filter((_, index) => index % 5 === 2)
    const steady = star.followers.filter(id => !leaving.includes(id))
    const seen = await walk(
      server,
      getChannelFollowers,
      ofChannel(star),
      page => 1 + ((page * 5) % 4),
      async () => {
        const gone = leaving.pop()
        if (gone !== undefined) await server.control('DELETE', `/users/${gone}`)
        const [come = ''] = await newUsers(server, 1)
        await follow(server, [{ user_id: come, broadcaster_id: star.id }])
      },
    )
    const ids = seen.map(idOf)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter(id => steady.includes(id))).toHaveLength(steady.length)
  })

  ok('total is exact after random follows, unfollows and deleted users', async server => {
    const star = await newChannel(server, SCOPES)
    const people = await newUsers(server, 30)
    const following = new Set<string>()
    let state = 12345
    const random = (below: number) => {
      state = (state * 1103515245 + 12345) % 2147483648
      return state % below
    }
    for (let turn = 0; turn < 120; turn++) {
      const id = people[random(people.length)] ?? ''
      const pair = { user_id: id, broadcaster_id: star.id }
      if (following.delete(id)) await unfollow(server, pair)
      else {
        const more = people.slice(0, random(4)).map(user_id => ({ user_id, broadcaster_id: star.id }))
        await follow(server, [pair, pair, ...more])
        for (const { user_id } of [pair, ...more]) following.add(user_id)
      }
      if (turn % 40 === 39) {
        const gone = people.pop() ?? ''
        await server.control('DELETE', `/users/${gone}`)
        following.delete(gone)
      }
      const { total } = (await ask(server, { ...ofChannel(star), search: 'first=1' })).body
      expect([turn, total]).toEqual([turn, following.size])
    }
    const rows = await walk(server, getChannelFollowers, ofChannel(star), () => 7)
    expect(rows.map(idOf).toSorted()).toEqual([...following].toSorted())
  })

  fails('missing_parameter', 'naming broadcaster_id', async server =>
    withMessage(
      await ask(server, { ...valid(server), query: { user_id: '1' } }),
      'Missing required parameter "broadcaster_id"',
    ),
  )
  fails('user_token_required', 'when an app names a user_id', server =>
    ask(server, { ...valid(server), token: server.world.client.app_token }),
  )
  fails('scope_missing', 'when the broadcaster names a user_id without the scope', async server => {
    const star = await newChannel(server, ['user:read:follows'])
    const query = { broadcaster_id: star.id, user_id: '1' }
    return withMessage(
      await ask(server, { token: star.token, query }),
      'Missing scope: moderator:read:followers',
    )
  })
  fails('identity_mismatch', 'when a stranger names a user_id, even their own', async server => {
    const stranger = await newChannel(server, SCOPES)
    const query = { broadcaster_id: server.world.broadcaster.id, user_id: stranger.id }
    return withMessage(
      await ask(server, { token: stranger.token, query }),
      "The ID in broadcaster_id must match the user ID found in the request's OAuth token.",
    )
  })
  fails('malformed_parameter', 'parameters are checked before the right to rows', server =>
    ask(server, { ...valid(server), token: server.world.client.app_token, search: 'first=0' }),
  )
})
