import { expect } from 'bun:test'
import { createGame, deleteGame, getGame, listGames, putGame } from '../../../src/contract/control/games.ts'
import type { TestServer } from '../../support/server.ts'
import { newCampaign } from '../drops/campaigns.ts'
import { crudCalls, describeCrud, NUMBER_IDS } from './crud.ts'
import { expectEmpty, idsOf, naming, newUser, shownStream, UNKNOWN_UUID, walk } from './operator.ts'

const operations = { create: createGame, put: putGame, get: getGame, list: listGames, remove: deleteGame }
const games = {
  ids: NUMBER_IDS,
  body: ({ world }: TestServer) => ({ name: 'Tidefall', organization_id: world.organization.id }),
  changes: [{ name: 'Renamed' }, { organization_id: null }, { igdb_id: '90210' }],
  references: { organization_id: UNKNOWN_UUID },
}
const { create, change, get, list, remove, make } = crudCalls(operations, games)

/** A live channel that plays the game. */
async function player(server: TestServer, game_id: string): Promise<string> {
  const { id } = await newUser(server)
  await server.control('PATCH', `/channels/${id}`, { game_id })
  await server.control('PUT', `/channels/${id}/stream`, {})
  return id
}

describeCrud(operations, games, {
  create({ ok, fails }) {
    ok('assigns a decimal id; it needs no organization', async server => {
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
    fails('malformed_parameter', 'when organization_id is not a UUID', server =>
      create(server, { name: 'Lost', organization_id: '42' }),
    )
    fails('malformed_parameter', 'when the name has 101 characters', server =>
      create(server, { name: 'x'.repeat(101) }),
    )
  },

  change({ ok }) {
    ok('running streams show the new name at once', async server => {
      const game = await make(server)
      const user_id = await player(server, game.id)
      await change(server, game.id, { name: 'Second edition' })
      expect((await shownStream(server, user_id)).game_name).toBe('Second edition')
    })
  },

  get({ ok }) {
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
  },

  list({ ok }) {
    ok('orders ids as numbers', async server => {
      for (const id of ['100', '9', '10']) await change(server, id, { name: `Game ${id}` })
      expect(idsOf((await list(server, { first: 3 })).body.data)).toEqual(['9', '10', '100'])
    })

    ok('finds games by their whole name, page by page', async server => {
      const { id: organization_id } = server.world.organization
      const one = await make(server, { name: 'Twice Named', organization_id: null })
      const other = await make(server, { name: 'Twice Named', organization_id })
      const name = 'Twice Named'
      expect(await walk(server, '/control/games', { name, first: 1 })).toEqual([one, other])
      expect((await list(server, { name, organization_id })).body.data).toEqual([other])
      expect((await list(server, { name: 'Twice' })).body.data).toEqual([])
    })
  },

  remove({ ok, fails }) {
    ok('channels that play it play nothing then, and streams show it at once', async server => {
      const game = await make(server)
      const user_id = await player(server, game.id)
      expect((await shownStream(server, user_id)).game_id).toBe(game.id)
      expectEmpty(await remove(server, game.id))
      expect((await server.control('GET', `/channels/${user_id}`))[0].game_id).toBe('')
      expect(await shownStream(server, user_id)).toMatchObject({ game_id: '', game_name: '' })
    })

    fails('in_use', 'when it has benefits', async server => {
      const organization_id = server.world.organization.id
      const game = await make(server)
      await server.control('POST', '/benefits', { name: 'Lamp', organization_id, game_id: game.id })
      const user_id = await player(server, game.id)
      const answer = await remove(server, game.id)
      expect((await shownStream(server, user_id)).game_id).toBe(game.id)
      return answer
    })
    fails('in_use', 'when it has a campaign', async server => {
      const game = await make(server)
      await newCampaign(server, { game_id: game.id })
      return remove(server, game.id)
    })
    fails('in_use', 'when it has entitlements', async server => {
      const { benefit, viewer } = server.world
      const game = await make(server)
      await server.control('POST', '/entitlements', {
        grants: [{ user_id: viewer.id, benefit_id: benefit.id, game_id: game.id }],
      })
      return remove(server, game.id)
    })
  },
})
