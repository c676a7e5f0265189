import { expect } from 'bun:test'
import {
  createBenefit,
  deleteBenefit,
  getBenefit,
  listBenefits,
  putBenefit,
} from '../../../src/contract/control/benefits.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { asOperator, expectEmpty, idsOf, naming, UNKNOWN_UUID, walk } from './operator.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const at = (id: string) => `/control/benefits/${id}`
const lantern = ({ world }: TestServer) => ({
  name: 'Coral lantern',
  organization_id: world.organization.id,
  game_id: world.game.id,
})

const create = (server: TestServer, body: object) => send(server, createBenefit, asOperator(server, { body }))
const put = (server: TestServer, id: string, body: object) =>
  send(server, putBenefit, asOperator(server, { path: at(id), body }))
const get = (server: TestServer, id: string) => send(server, getBenefit, asOperator(server, { path: at(id) }))
const list = (server: TestServer, query: Record<string, string | number>) =>
  send(server, listBenefits, asOperator(server, { query }))
const remove = (server: TestServer, id: string) =>
  send(server, deleteBenefit, asOperator(server, { path: at(id) }))

async function newBenefit(server: TestServer) {
  return (await create(server, lantern(server))).body.data[0]
}

describeOperation(
  createBenefit,
  { valid: server => asOperator(server, { body: lantern(server) }) },
  ({ ok, fails }) => {
    ok('assigns a UUID', async server => {
      const { body } = await create(server, lantern(server))
      expect(body.data).toEqual([{ id: expect.stringMatching(UUID), ...lantern(server) }])
      expect((await get(server, body.data[0].id)).body).toEqual(body)
    })

    ok('needs no game', async server => {
      const { game_id: _, ...input } = lantern(server)
      for (const body of [input, { ...input, game_id: null }]) {
        expect((await create(server, body)).body.data[0].game_id).toBeNull()
      }
    })

    fails('unknown_reference', 'when the organization does not exist', server =>
      naming(UNKNOWN_UUID, create(server, { ...lantern(server), organization_id: UNKNOWN_UUID })),
    )
    fails('unknown_reference', 'when the game does not exist', server =>
      naming('999', create(server, { ...lantern(server), game_id: '999' })),
    )
    fails('malformed_parameter', 'when organization_id is not a UUID', server =>
      create(server, { ...lantern(server), organization_id: '42' }),
    )
    fails('malformed_parameter', 'when game_id is not a number', server =>
      create(server, { ...lantern(server), game_id: 'abc' }),
    )
  },
)

describeOperation(
  putBenefit,
  {
    valid: async server =>
      asOperator(server, { path: at((await newBenefit(server)).id), body: { name: 'Tide cloak' } }),
  },
  ({ ok, fails }) => {
    ok('creates the benefit with this id, and a repeat changes nothing', async server => {
      const id = crypto.randomUUID()
      for (const spelling of [id, id, id.toUpperCase()]) {
        const { body } = await put(server, spelling, lantern(server))
        expect(body.data).toEqual([{ id, ...lantern(server) }])
      }
    })

    ok('fields left out keep their value; null takes the game away', async server => {
      const benefit = await newBenefit(server)
      const renamed = await put(server, benefit.id, { name: 'Renamed' })
      expect(renamed.body.data).toEqual([{ ...benefit, name: 'Renamed' }])
      expect((await put(server, benefit.id, {})).body).toEqual(renamed.body)
      const freed = await put(server, benefit.id, { game_id: null })
      expect(freed.body.data).toEqual([{ ...benefit, name: 'Renamed', game_id: null }])
      expect((await get(server, benefit.id)).body).toEqual(freed.body)
    })

    for (const name of ['name', 'organization_id']) {
      fails('missing_parameter', `when the benefit is new and has no ${name}`, server =>
        naming(name, put(server, UNKNOWN_UUID, { ...lantern(server), [name]: undefined })),
      )
    }
    fails('unknown_reference', 'when the game does not exist', async server => {
      const benefit = await newBenefit(server)
      const answer = naming('999', put(server, benefit.id, { name: 'Lost', game_id: '999' }))
      await answer
      expect((await get(server, benefit.id)).body.data).toEqual([benefit])
      return answer
    })
    fails('unknown_reference', 'when the organization of a new one does not exist', server =>
      put(server, crypto.randomUUID(), { ...lantern(server), organization_id: UNKNOWN_UUID }),
    )
    fails('in_use', 'when it is to move to another organization', async server =>
      put(server, (await newBenefit(server)).id, { organization_id: server.world.other_organization.id }),
    )
    fails('malformed_parameter', 'when the id is not a UUID', server =>
      naming('benefit_id', put(server, '42', lantern(server))),
    )
  },
)

describeOperation(
  getBenefit,
  { valid: server => asOperator(server, { path: at(server.world.benefit.id) }) },
  ({ ok, fails }) => {
    ok('shows the benefit, whatever the case of the id', async server => {
      const { benefit, organization } = server.world
      for (const id of [benefit.id, benefit.id.toUpperCase()]) {
        const { body } = await get(server, id)
        expect(Object.keys(body.data[0])).toEqual(['id', 'name', 'organization_id', 'game_id'])
        expect(body.data[0]).toMatchObject({ id: benefit.id, organization_id: organization.id })
      }
    })

    fails('not_found', 'when it does not exist', server => naming(UNKNOWN_UUID, get(server, UNKNOWN_UUID)))
    fails('not_found', 'when the id is not a UUID', server => get(server, '42'))
  },
)

describeOperation(listBenefits, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  ok('pages to the end by id, every one once', async server => {
    for (let count = 0; count < 20; count++) await newBenefit(server)
    const all = idsOf(await walk(server, '/control/benefits', { first: 100 }))
    expect(all.length).toBeGreaterThan(20)
    expect(all).toEqual([...new Set(all)].sort())
    for (const query of [{}, { first: 3 }]) {
      expect(idsOf(await walk(server, '/control/benefits', query))).toEqual(all)
    }
  })

  ok('filters by organization', async server => {
    const { organization, other_organization } = server.world
    const all = await walk(server, '/control/benefits', { first: 100 })
    for (const { id } of [organization, other_organization]) {
      const own = all.filter(benefit => benefit.organization_id === id)
      expect(own.length).toBeGreaterThan(0)
      expect(await walk(server, '/control/benefits', { organization_id: id, first: 1 })).toEqual(own)
    }
    expect((await list(server, { organization_id: UNKNOWN_UUID })).body.data).toEqual([])
  })

  fails('malformed_parameter', 'when first is 101', server => list(server, { first: 101 }))
})

describeOperation(
  deleteBenefit,
  { valid: async server => asOperator(server, { path: at((await newBenefit(server)).id) }) },
  ({ ok, fails }) => {
    ok('deletes it, whatever the case of the id', async server => {
      const { id } = await newBenefit(server)
      expectEmpty(await remove(server, id.toUpperCase()))
      expect((await get(server, id)).status).toBe(404)
    })

    fails('not_found', 'when it does not exist', server => remove(server, UNKNOWN_UUID))
    fails('in_use', 'when it was granted to somebody', async server => {
      const { viewer, game } = server.world
      const { id } = await newBenefit(server)
      await server.control('POST', '/entitlements', {
        grants: [{ user_id: viewer.id, benefit_id: id, game_id: game.id }],
      })
      const answer = await remove(server, id)
      expect((await get(server, id)).status).toBe(200)
      return answer
    })
  },
)
