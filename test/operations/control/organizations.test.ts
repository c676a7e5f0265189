import { expect } from 'bun:test'
import {
  createOrganization,
  deleteMember,
  deleteOrganization,
  getOrganization,
  listMembers,
  listOrganizations,
  putMember,
  putOrganization,
} from '../../../src/contract/control/organizations.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { newCampaign, newGame } from '../drops/campaigns.ts'
import { crudCalls, describeCrud, UUID_IDS } from './crud.ts'
import { asOperator, expectEmpty, idsOf, naming, newUser, UNKNOWN_UUID, UUID, walk } from './operator.ts'

const operations = {
  create: createOrganization,
  put: putOrganization,
  get: getOrganization,
  list: listOrganizations,
  remove: deleteOrganization,
}
const organizations = { ids: UUID_IDS, body: () => ({ name: 'Reef' }), changes: [{ name: 'Renamed' }] }
const { create, change, get, list, remove, make: newOrganization } = crudCalls(operations, organizations)

const at = (id: string) => `/control/organizations/${id}`
const memberAt = (id: string, user_id: string) => `${at(id)}/members/${user_id}`
const join = (server: TestServer, id: string, user_id: string) =>
  send(server, putMember, asOperator(server, { path: memberAt(id, user_id) }))
const leave = (server: TestServer, id: string, user_id: string) =>
  send(server, deleteMember, asOperator(server, { path: memberAt(id, user_id) }))

describeCrud(operations, organizations, {
  create({ ok, fails }) {
    ok('assigns a UUID', async server => {
      const { body } = await create(server, { name: 'Zażółć 🎮' })
      expect(body.data).toEqual([{ id: expect.stringMatching(UUID), name: 'Zażółć 🎮' }])
      expect((await get(server, body.data[0].id)).body).toEqual(body)
    })

    ok('two may have the same name', async server => {
      const [one, other] = [await create(server, { name: 'Twin' }), await create(server, { name: 'Twin' })]
      expect(one.body.data[0].id).not.toBe(other.body.data[0].id)
    })

    fails('malformed_parameter', 'when the name is empty', server => create(server, { name: '' }))
    fails('malformed_parameter', 'when the name has 101 characters', server =>
      create(server, { name: 'x'.repeat(101) }),
    )
  },

  change({ ok }) {
    ok('two spellings of a UUID are one id', async server => {
      const { id } = await newOrganization(server)
      const answer = await change(server, id.toUpperCase(), { name: 'Loud' })
      expect(answer.body.data).toEqual([{ id, name: 'Loud' }])
    })
  },

  get({ ok }) {
    ok('shows the organization', async server => {
      const { id, name } = server.world.organization
      expect((await get(server, id)).body).toEqual({ data: [{ id, name }] })
    })
  },

  list({ ok }) {
    ok('finds them by their whole name, page by page', async server => {
      const [{ id }, { id: second }] = [
        await newOrganization(server, { name: 'Twice Named' }),
        await newOrganization(server, { name: 'Twice Named' }),
      ]
      const found = await walk(server, '/control/organizations', { name: 'Twice Named', first: 1 })
      expect(idsOf(found)).toEqual([id, second].sort())
      for (const name of ['Twice', 'twice named', 'Unknown']) {
        expect((await list(server, { name })).body).toEqual({ data: [], pagination: {} })
      }
    })
  },

  remove({ ok, fails }) {
    ok('deletes it with its memberships', async server => {
      const { id } = await newOrganization(server)
      await join(server, id, server.world.viewer.id)
      expectEmpty(await remove(server, id))
      await change(server, id, { name: 'Back again' })
      expect((await leave(server, id, server.world.viewer.id)).status).toBe(404)
    })

    ok('can go once what it owned has gone', async server => {
      const { id } = await newOrganization(server)
      const [game] = await server.control('POST', '/games', { name: 'Owned', organization_id: id })
      expect((await remove(server, id)).status).toBe(409)
      await server.control('DELETE', `/games/${game.id}`)
      expectEmpty(await remove(server, id))
    })

    fails('not_found', 'when the id is not a UUID', server => remove(server, '42'))
    fails('in_use', 'when it has a campaign', async server => {
      const { id } = await newOrganization(server)
      const game = await newGame(server, { organization_id: null })
      await newCampaign(server, { organization_id: id, game_id: game.id, drops: [] })
      return remove(server, id)
    })
    for (const kind of ['games', 'benefits', 'clients']) {
      fails('in_use', `when it owns ${kind}`, async server => {
        const { id } = await newOrganization(server)
        await server.control('POST', `/${kind}`, { name: 'Owned', organization_id: id })
        const answer = await remove(server, id)
        expect((await get(server, id)).status).toBe(200)
        return answer
      })
    }
  },
})

describeOperation(
  putMember,
  {
    valid: server =>
      asOperator(server, { path: memberAt(server.world.organization.id, server.world.viewer.id) }),
  },
  ({ ok, fails }) => {
    ok('is idempotent and has no body', async server => {
      const { id } = await newOrganization(server)
      const user = await newUser(server)
      expectEmpty(await join(server, id, user.id))
      expectEmpty(await join(server, id.toUpperCase(), user.id))
      expectEmpty(await leave(server, id, user.id))
      expect((await leave(server, id, user.id)).status).toBe(404)
    })

    fails('not_found', 'when the organization does not exist', server =>
      naming(UNKNOWN_UUID, join(server, UNKNOWN_UUID, server.world.viewer.id)),
    )
    fails('not_found', 'when the user does not exist', server =>
      naming('999', join(server, server.world.organization.id, '999')),
    )
  },
)

describeOperation(
  deleteMember,
  {
    valid: async server => {
      const { organization, viewer } = server.world
      await join(server, organization.id, viewer.id)
      return asOperator(server, { path: memberAt(organization.id, viewer.id) })
    },
  },
  ({ ok, fails }) => {
    ok('ends one membership; others stay', async server => {
      const { organization } = server.world
      const [one, other] = [await newUser(server), await newUser(server)]
      for (const { id } of [one, other]) await join(server, organization.id, id)
      expectEmpty(await leave(server, organization.id, one.id))
      expectEmpty(await leave(server, organization.id, other.id))
    })

    fails('not_found', 'when the user is no member', async server =>
      leave(server, server.world.organization.id, (await newUser(server)).id),
    )
    fails('not_found', 'when the organization does not exist', server =>
      leave(server, UNKNOWN_UUID, server.world.viewer.id),
    )
  },
)

describeOperation(
  listMembers,
  { valid: server => asOperator(server, { path: `${at(server.world.organization.id)}/members` }) },
  ({ ok, fails }) => {
    const members = (server: TestServer, id: string) =>
      send(server, listMembers, asOperator(server, { path: `${at(id)}/members` }))

    ok('lists the members, page by page, and no other user', async server => {
      const { id } = await newOrganization(server)
      expect((await members(server, id)).body).toEqual({ data: [], pagination: {} })
      const users = [await newUser(server), await newUser(server), await newUser(server)]
      for (const user of users) await join(server, id, user.id)
      await join(server, (await newOrganization(server)).id, (await newUser(server)).id)
      const expected = users.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      for (const spelling of [id, id.toUpperCase()]) {
        expect((await members(server, spelling)).body.data).toEqual(expected)
      }
      expect(await walk(server, `${at(id)}/members`, { first: 2 })).toEqual(expected)
      await leave(server, id, expected[1].id)
      expect(idsOf((await members(server, id)).body.data)).toEqual([expected[0].id, expected[2].id])
    })

    fails('not_found', 'when the organization does not exist', server =>
      naming(UNKNOWN_UUID, members(server, UNKNOWN_UUID)),
    )
  },
)
