import { expect } from 'bun:test'
import {
  createBenefit,
  deleteBenefit,
  getBenefit,
  listBenefits,
  putBenefit,
} from '../../../src/contract/control/benefits.ts'
import type { TestServer } from '../../support/server.ts'
import { newCampaign } from '../drops/campaigns.ts'
import { crudCalls, describeCrud, UUID_IDS } from './crud.ts'
import { UNKNOWN_UUID, UUID } from './operator.ts'

const operations = {
  create: createBenefit,
  put: putBenefit,
  get: getBenefit,
  list: listBenefits,
  remove: deleteBenefit,
}
const lantern = ({ world }: TestServer) => ({
  name: 'Coral lantern',
  organization_id: world.organization.id,
  game_id: world.game.id,
})
const benefits = {
  ids: UUID_IDS,
  body: lantern,
  changes: [{ name: 'Renamed' }, { game_id: null }],
  references: { organization_id: UNKNOWN_UUID, game_id: '999' },
  fixed: ['organization_id'],
}
const { create, change, get, remove, make } = crudCalls(operations, benefits)

describeCrud(operations, benefits, {
  create({ ok, fails }) {
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

    fails('malformed_parameter', 'when organization_id is not a UUID', server =>
      create(server, { ...lantern(server), organization_id: '42' }),
    )
    fails('malformed_parameter', 'when game_id is not a number', server =>
      create(server, { ...lantern(server), game_id: 'abc' }),
    )
  },

  change({ fails }) {
    fails('in_use', 'when it is to move to another organization', async server =>
      change(server, (await make(server)).id, { organization_id: server.world.other_organization.id }),
    )
  },

  get({ ok }) {
    ok('shows its fields in their order', async server => {
      const { benefit, organization } = server.world
      const { body } = await get(server, benefit.id)
      expect(Object.keys(body.data[0])).toEqual(['id', 'name', 'organization_id', 'game_id'])
      expect(body.data[0]).toMatchObject({ id: benefit.id, organization_id: organization.id })
    })
  },

  list() {},

  remove({ fails }) {
    fails('in_use', 'when a drop of a campaign has it', async server => {
      const { drops } = await newCampaign(server)
      return remove(server, drops[0].benefit_ids[0])
    })

    fails('in_use', 'when it was granted to a user', async server => {
      const { viewer, game } = server.world
      const { id } = await make(server)
      await server.control('POST', '/entitlements', {
        grants: [{ user_id: viewer.id, benefit_id: id, game_id: game.id }],
      })
      const answer = await remove(server, id)
      expect((await get(server, id)).status).toBe(200)
      return answer
    })
  },
})
