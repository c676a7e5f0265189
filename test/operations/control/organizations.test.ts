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
import {
  asOperator,
  expectEmpty,
  idsOf,
  naming,
  newOrganization,
  newUser,
  UNKNOWN_UUID,
  walk,
} from './operator.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const at = (id: string) => `/control/organizations/${id}`
const memberAt = (id: string, user_id: string) => `${at(id)}/members/${user_id}`

const create = (server: TestServer, body: object) =>
  send(server, createOrganization, asOperator(server, { body }))
const put = (server: TestServer, id: string, body: object) =>
  send(server, putOrganization, asOperator(server, { path: at(id), body }))
const get = (server: TestServer, id: string) =>
  send(server, getOrganization, asOperator(server, { path: at(id) }))
const list = (server: TestServer, query: Record<string, string | number> = {}) =>
  send(server, listOrganizations, asOperator(server, { query }))
const remove = (server: TestServer, id: string) =>
  send(server, deleteOrganization, asOperator(server, { path: at(id) }))
const join = (server: TestServer, id: string, user_id: string) =>
  send(server, putMember, asOperator(server, { path: memberAt(id, user_id) }))
const leave = (server: TestServer, id: string, user_id: string) =>
  send(server, deleteMember, asOperator(server, { path: memberAt(id, user_id) }))

describeOperation(
  createOrganization,
  { valid: server => asOperator(server, { body: { name: 'Reef' } }) },
  ({ ok, fails }) => {
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
)

describeOperation(
  putOrganization,
  {
    valid: async server =>
      asOperator(server, { path: at((await newOrganization(server)).id), body: { name: 'Reef' } }),
  },
  ({ ok, fails }) => {
    ok('creates the organization with this id, and a repeat changes nothing', async server => {
      const id = crypto.randomUUID()
      for (const _ of [1, 2]) {
        expect((await put(server, id, { name: 'Chosen' })).body.data).toEqual([{ id, name: 'Chosen' }])
      }
    })

    ok('changes the name; left out, it stays', async server => {
      const { id } = await newOrganization(server)
      await put(server, id, { name: 'New name' })
      expect((await put(server, id, {})).body.data).toEqual([{ id, name: 'New name' }])
      expect((await get(server, id)).body.data).toEqual([{ id, name: 'New name' }])
    })

    ok('two spellings of a UUID are one id', async server => {
      const { id } = await newOrganization(server)
      const answer = await put(server, id.toUpperCase(), { name: 'Loud' })
      expect(answer.body.data).toEqual([{ id, name: 'Loud' }])
    })

    fails('missing_parameter', 'when the organization is new and has no name', server =>
      naming('name', put(server, UNKNOWN_UUID, {})),
    )
    fails('malformed_parameter', 'when the id is not a UUID', server =>
      naming('organization_id', put(server, '42', { name: 'Reef' })),
    )
  },
)

describeOperation(
  getOrganization,
  { valid: server => asOperator(server, { path: at(server.world.organization.id) }) },
  ({ ok, fails }) => {
    ok('shows the organization, whatever the case of the id', async server => {
      const { organization } = server.world
      const { id, name } = organization
      for (const spelling of [id, id.toUpperCase()]) {
        expect((await get(server, spelling)).body).toEqual({ data: [{ id, name }] })
      }
    })

    fails('not_found', 'when it does not exist', server => naming(UNKNOWN_UUID, get(server, UNKNOWN_UUID)))
    fails('not_found', 'when the id is not a UUID', server => get(server, '42'))
  },
)

describeOperation(listOrganizations, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  ok('pages to the end by id, every one once', async server => {
    for (let count = 0; count < 23; count++) await newOrganization(server)
    const all = idsOf(await walk(server, '/control/organizations', { first: 100 }))
    expect(all).toContain(server.world.organization.id)
    expect(all).toContain(server.world.other_organization.id)
    expect(all).toEqual([...new Set(all)].sort())
    for (const query of [{}, { first: 4 }]) {
      expect(idsOf(await walk(server, '/control/organizations', query))).toEqual(all)
    }
  })

  ok('finds them by their whole name, page by page', async server => {
    const [{ id }] = await server.control('POST', '/organizations', { name: 'Twice Named' })
    const [{ id: second }] = await server.control('POST', '/organizations', { name: 'Twice Named' })
    const found = await walk(server, '/control/organizations', { name: 'Twice Named', first: 1 })
    expect(idsOf(found)).toEqual([id, second].sort())
    for (const name of ['Twice', 'twice named', 'Nobody']) {
      expect((await list(server, { name })).body).toEqual({ data: [], pagination: {} })
    }
  })

  fails('malformed_parameter', 'when first is 101', server => list(server, { first: 101 }))
  fails('invalid_cursor', 'when the cursor belongs to another list', async server => {
    const users = await server.call(asOperator(server, { path: '/control/users' }))
    return list(server, { after: users.body.pagination.cursor })
  })
})

describeOperation(
  deleteOrganization,
  { valid: async server => asOperator(server, { path: at((await newOrganization(server)).id) }) },
  ({ ok, fails }) => {
    ok('deletes it with its memberships', async server => {
      const { id } = await newOrganization(server)
      await join(server, id, server.world.viewer.id)
      expectEmpty(await remove(server, id))
      expect((await get(server, id)).status).toBe(404)
      await put(server, id, { name: 'Back again' })
      expect((await leave(server, id, server.world.viewer.id)).status).toBe(404)
    })

    ok('can go once what it owned has gone', async server => {
      const { id } = await newOrganization(server)
      const [game] = await server.control('POST', '/games', { name: 'Owned', organization_id: id })
      expect((await remove(server, id)).status).toBe(409)
      await server.control('DELETE', `/games/${game.id}`)
      expectEmpty(await remove(server, id.toUpperCase()))
    })

    fails('not_found', 'when it does not exist', server => remove(server, UNKNOWN_UUID))
    fails('not_found', 'when the id is not a UUID', server => remove(server, '42'))
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
)

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

    ok('lists the members, page by page, and nobody else', async server => {
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
