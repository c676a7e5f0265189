import { expect } from 'bun:test'
import { createGame, deleteGame, getGame, listGames, putGame } from '../../../src/contract/control/games.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import {
  asOperator,
  byNumber,
  expectEmpty,
  idsOf,
  naming,
  newUser,
  shownStream,
  UNKNOWN_UUID,
  walk,
} from './operator.ts'

const at = (id: string) => `/control/games/${id}`
const create = (server: TestServer, body: object) => send(server, createGame, asOperator(server, { body }))
const put = (server: TestServer, id: string, body: object) =>
  send(server, putGame, asOperator(server, { path: at(id), body }))
const get = (server: TestServer, id: string) => send(server, getGame, asOperator(server, { path: at(id) }))
const list = (server: TestServer, query: Record<string, string | number>) =>
  send(server, listGames, asOperator(server, { query }))
const remove = (server: TestServer, id: string) =>
  send(server, deleteGame, asOperator(server, { path: at(id) }))

async function newGame(server: TestServer, more: object = {}) {
  return (await create(server, { name: 'Tidefall', ...more })).body.data[0]
}

/** A live channel that plays the game. */
async function player(server: TestServer, game_id: string): Promise<string> {
  const { id } = await newUser(server)
  await server.control('PATCH', `/channels/${id}`, { game_id })
  await server.control('PUT', `/channels/${id}/stream`, {})
  return id
}

describeOperation(
  createGame,
  { valid: server => asOperator(server, { body: { name: 'Tidefall' } }) },
  ({ ok, fails }) => {
    ok('assigns a decimal id; without an organization it is nobody’s', async server => {
      const { body } = await create(server, { name: 'Tidefall' })
      expect(body.data).toEqual([
        {
          id: expect.stringMatching(/^[1-9][0-9]{0,18}$/),
          name: 'Tidefall',
          organization_id: null,
          igdb_id: '',
        },
      ])
      expect((await get(server, body.data[0].id)).body).toEqual(body)
    })

    ok('an organization may own it', async server => {
      const { id } = server.world.organization
      for (const organization_id of [id, id.toUpperCase()]) {
        const { body } = await create(server, { name: 'Owned', organization_id })
        expect(body.data[0].organization_id).toBe(id)
      }
    })

    ok('takes the id of IGDB (D-94)', async server => {
      for (const igdb_id of ['0', '90210', '9'.repeat(19), ''])
        expect((await create(server, { name: 'Known', igdb_id })).body.data[0].igdb_id).toBe(igdb_id)
    })

    for (const igdb_id of ['abc', '-1', '1.5', ' 7', '007', '1'.repeat(20)]) {
      fails('malformed_parameter', `when igdb_id is "${igdb_id}"`, server =>
        naming('igdb_id', create(server, { name: 'Lost', igdb_id })),
      )
    }
    fails('unknown_reference', 'when the organization does not exist', server =>
      naming(UNKNOWN_UUID, create(server, { name: 'Lost', organization_id: UNKNOWN_UUID })),
    )
    fails('malformed_parameter', 'when organization_id is not a UUID', server =>
      create(server, { name: 'Lost', organization_id: '42' }),
    )
    fails('malformed_parameter', 'when the name has 101 characters', server =>
      create(server, { name: 'x'.repeat(101) }),
    )
  },
)

describeOperation(
  putGame,
  {
    valid: async server =>
      asOperator(server, { path: at((await newGame(server)).id), body: { name: 'Tidefall' } }),
  },
  ({ ok, fails }) => {
    ok('creates the game with this id, and a repeat changes nothing', async server => {
      const body = { name: 'Chosen', organization_id: server.world.organization.id }
      for (const _ of [1, 2]) {
        expect((await put(server, '4711', body)).body.data).toEqual([{ id: '4711', ...body, igdb_id: '' }])
      }
    })

    ok('fields left out keep their value; null takes the organization away', async server => {
      const game = await newGame(server, { organization_id: server.world.organization.id })
      const renamed = await put(server, game.id, { name: 'Renamed' })
      expect(renamed.body.data).toEqual([{ ...game, name: 'Renamed' }])
      expect((await put(server, game.id, {})).body).toEqual(renamed.body)
      const freed = await put(server, game.id, { organization_id: null })
      expect(freed.body.data).toEqual([{ ...game, name: 'Renamed', organization_id: null }])
      expect((await get(server, game.id)).body).toEqual(freed.body)
      const known = await put(server, game.id, { igdb_id: '90210' })
      expect(known.body.data).toEqual([{ ...freed.body.data[0], igdb_id: '90210' }])
      expect((await put(server, game.id, { name: 'Renamed' })).body).toEqual(known.body)
    })

    ok('running streams show the new name at once', async server => {
      const game = await newGame(server)
      const user_id = await player(server, game.id)
      await put(server, game.id, { name: 'Second edition' })
      expect((await shownStream(server, user_id)).game_name).toBe('Second edition')
    })

    fails('missing_parameter', 'when the game is new and has no name', server =>
      naming('name', put(server, '4712', {})),
    )
    fails('unknown_reference', 'when the organization does not exist', async server => {
      const game = await newGame(server)
      const body = { name: 'Lost', organization_id: UNKNOWN_UUID }
      const answer = naming(UNKNOWN_UUID, put(server, game.id, body))
      await answer
      expect((await get(server, game.id)).body.data).toEqual([game])
      return answer
    })
    for (const id of ['abc', '007', '1'.repeat(20)]) {
      fails('malformed_parameter', `when the id is ${id}`, server =>
        naming('game_id', put(server, id, { name: 'Tidefall' })),
      )
    }
  },
)

describeOperation(
  getGame,
  { valid: server => asOperator(server, { path: at(server.world.game.id) }) },
  ({ ok, fails }) => {
    ok('shows the game', async server => {
      const { game, organization } = server.world
      const { body } = await get(server, game.id)
      expect(body.data).toEqual([
        {
          id: game.id,
          name: expect.any(String),
          organization_id: organization.id,
          igdb_id: expect.any(String),
        },
      ])
    })

    fails('not_found', 'when it does not exist', server => naming('999', get(server, '999')))
    fails('not_found', 'when the id is not a number', server => get(server, 'abc'))
  },
)

describeOperation(listGames, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  ok('orders ids as numbers', async server => {
    for (const id of ['100', '9', '10']) await put(server, id, { name: `Game ${id}` })
    expect(idsOf((await list(server, { first: 3 })).body.data)).toEqual(['9', '10', '100'])
  })

  ok('pages to the end, every game once', async server => {
    for (let count = 0; count < 20; count++) await newGame(server)
    const all = idsOf(await walk(server, '/control/games', { first: 100 }))
    expect(all.length).toBeGreaterThan(20)
    expect(all).toEqual(byNumber([...new Set(all)]))
    for (const query of [{}, { first: 3 }]) {
      expect(idsOf(await walk(server, '/control/games', query))).toEqual(all)
    }
  })

  ok('filters by organization, page by page', async server => {
    const { id } = server.world.organization
    const all = await walk(server, '/control/games', { first: 100 })
    const own = all.filter(game => game.organization_id === id)
    expect(own.length).toBeGreaterThan(2)
    for (const organization_id of [id, id.toUpperCase()]) {
      expect(await walk(server, '/control/games', { organization_id, first: 2 })).toEqual(own)
    }
  })

  ok('finds games by their whole name, page by page', async server => {
    const organization_id = server.world.organization.id
    const one = await newGame(server, { name: 'Twice Named' })
    const other = await newGame(server, { name: 'Twice Named', organization_id })
    const name = 'Twice Named'
    expect(await walk(server, '/control/games', { name, first: 1 })).toEqual([one, other])
    expect((await list(server, { name, organization_id })).body.data).toEqual([other])
    expect((await list(server, { name: 'Twice' })).body.data).toEqual([])
  })

  ok('a filter that names nothing matches nothing', async server => {
    for (const organization_id of [UNKNOWN_UUID, 'abc']) {
      expect((await list(server, { organization_id })).body).toEqual({ data: [], pagination: {} })
    }
  })

  fails('malformed_parameter', 'when first is 0', server => list(server, { first: 0 }))
  fails('invalid_cursor', 'when the filter changes within a walk', async server => {
    const start = await list(server, { first: 1 })
    const organization_id = server.world.organization.id
    return list(server, { after: start.body.pagination.cursor, organization_id })
  })
})

describeOperation(
  deleteGame,
  { valid: async server => asOperator(server, { path: at((await newGame(server)).id) }) },
  ({ ok, fails }) => {
    ok('channels that play it play nothing then, and streams show it at once', async server => {
      const game = await newGame(server)
      const user_id = await player(server, game.id)
      expect((await shownStream(server, user_id)).game_id).toBe(game.id)
      expectEmpty(await remove(server, game.id))
      expect((await get(server, game.id)).status).toBe(404)
      expect((await server.control('GET', `/channels/${user_id}`))[0].game_id).toBe('')
      expect(await shownStream(server, user_id)).toMatchObject({ game_id: '', game_name: '' })
    })

    fails('not_found', 'when it does not exist', server => naming('999', remove(server, '999')))
    fails('not_found', 'the second time', async server => {
      const { id } = await newGame(server)
      await remove(server, id)
      return remove(server, id)
    })
    fails('in_use', 'when it has benefits', async server => {
      const organization_id = server.world.organization.id
      const game = await newGame(server, { organization_id })
      await server.control('POST', '/benefits', { name: 'Lamp', organization_id, game_id: game.id })
      const user_id = await player(server, game.id)
      const answer = await remove(server, game.id)
      expect((await shownStream(server, user_id)).game_id).toBe(game.id)
      return answer
    })
    fails('in_use', 'when it has entitlements', async server => {
      const { organization, benefit, viewer } = server.world
      const game = await newGame(server, { organization_id: organization.id })
      await server.control('POST', '/entitlements', {
        grants: [{ user_id: viewer.id, benefit_id: benefit.id, game_id: game.id }],
      })
      return remove(server, game.id)
    })
  },
)
