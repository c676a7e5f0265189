import { expect } from 'bun:test'
import {
  getEntitlement,
  getEntitlementHistory,
  grantEntitlements,
  listEntitlements,
} from '../../../src/contract/control/entitlements.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { newCampaign } from '../drops/campaigns.ts'
import { asOperator, idsOf, naming, newUser, nowOf, UNKNOWN_UUID, walk } from './operator.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const PATH = '/control/entitlements'
const historyAt = (id: string) => `${PATH}/${id}/history`

const grant = (server: TestServer, grants: readonly object[]) =>
  send(server, grantEntitlements, asOperator(server, { body: { grants } }))
const list = (server: TestServer, query: Ask['query'] = {}) =>
  send(server, listEntitlements, asOperator(server, { query }))

const lantern = ({ world }: TestServer, user_id = world.viewer.id) => ({
  user_id,
  benefit_id: world.benefit.id,
  game_id: world.game.id,
})
const ofUser = (server: TestServer, user_id: string) => walk(server, PATH, { user_id })

async function foreignGame(server: TestServer): Promise<string> {
  const [game] = await walk(server, '/control/games', {
    organization_id: server.world.other_organization.id,
  })
  return game.id
}

async function fulfil(server: TestServer, id: string): Promise<void> {
  const answer = await server.call({
    method: 'PATCH',
    path: '/helix/entitlements/drops',
    body: { entitlement_ids: [id], fulfillment_status: 'FULFILLED' },
    token: server.world.client.app_token,
  })
  expect(answer.body.data).toEqual([{ status: 'SUCCESS', ids: [id] }])
}

describeOperation(
  grantEntitlements,
  { valid: server => asOperator(server, { body: { grants: [lantern(server)] } }) },
  ({ ok, fails }) => {
    ok('an entitlement starts CLAIMED, now, with a new id', async server => {
      const before = nowOf(server)
      const { body } = await grant(server, [lantern(server)])
      const [granted] = body.data
      const { timestamp } = granted
      expect(body).toEqual({
        data: [
          {
            id: expect.stringMatching(UUID),
            ...lantern(server),
            timestamp,
            fulfillment_status: 'CLAIMED',
            last_updated: timestamp,
            updated_at: timestamp,
          },
        ],
      })
      expect(timestamp).toMatch(/\.\d{3}Z$/)
      expect(Date.parse(timestamp)).toBeWithin(before, nowOf(server) + 1)
    })

    ok("the organization's client sees it at once, another's does not", async server => {
      const user = await newUser(server)
      const { body } = await grant(server, [lantern(server, user.id)])
      const { client, other_client } = server.world
      const seen = (token: string) =>
        server.call({ path: '/helix/entitlements/drops', query: { user_id: user.id }, token })
      expect((await seen(client.app_token)).body.data).toEqual(body.data)
      expect((await seen(other_client.app_token)).body.data).toEqual([])
    })

    ok('takes id and timestamp; the id is kept in lower case, the time in milliseconds', async server => {
      const id = crypto.randomUUID()
      for (const [given, kept] of [
        ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
        ['2026-01-02T03:04:05.6Z', '2026-01-02T03:04:05.600Z'],
        ['2026-01-02T03:04:05.678901234Z', '2026-01-02T03:04:05.678Z'],
      ]) {
        const own = { id: crypto.randomUUID(), timestamp: given }
        const { body } = await grant(server, [{ ...lantern(server), ...own }])
        expect(body.data[0]).toMatchObject({ id: own.id, timestamp: kept, last_updated: kept })
      }
      const loud = await grant(server, [{ ...lantern(server), id: id.toUpperCase() }])
      expect(loud.body.data[0].id).toBe(id)
    })

    ok('1000 come back in the order given', async server => {
      const { viewer, editor, offline } = server.world
      const users = [viewer.id, editor.id, offline.id]
      const grants = Array.from({ length: 1000 }, (_, index) => ({
        ...lantern(server, users[index % 3]),
        ...(index % 2 === 0 && { id: crypto.randomUUID() }),
      }))
      const { data } = (await grant(server, grants)).body
      expect(data).toHaveLength(1000)
      expect(new Set(idsOf(data)).size).toBe(1000)
      for (const [index, given] of grants.entries()) expect(data[index]).toMatchObject(given)
    })

    ok('a repeat with the same content answers alike and changes nothing', async server => {
      const { id: user_id } = await newUser(server)
      const timed = { ...lantern(server, user_id), timestamp: '2026-01-02T03:04:05.678Z' }
      const grants = [
        { ...lantern(server, user_id), id: crypto.randomUUID() },
        { ...timed, id: crypto.randomUUID() },
      ]
      const first = await grant(server, grants)
      await server.control('POST', '/clock', { advance_seconds: 60 })
      expect((await grant(server, grants)).body).toEqual(first.body)
      const loud = grants.map(each => ({ ...each, id: each.id.toUpperCase() }))
      expect((await grant(server, loud.reverse())).body.data).toEqual(first.body.data.toReversed())
      expect(await ofUser(server, user_id)).toHaveLength(2)
    })

    ok('a repeat after fulfilment shows what became of it', async server => {
      const given = { ...lantern(server), id: crypto.randomUUID() }
      await grant(server, [given])
      await fulfil(server, given.id)
      const { body } = await grant(server, [given])
      expect(body.data[0].fulfillment_status).toBe('FULFILLED')
    })

    ok('an id twice in one call with the same content is one entitlement', async server => {
      const { id: user_id } = await newUser(server)
      const given = { ...lantern(server, user_id), id: crypto.randomUUID() }
      const { data } = (await grant(server, [given, given])).body
      expect(idsOf(data)).toEqual([given.id, given.id])
      expect(await ofUser(server, user_id)).toHaveLength(1)
    })

    ok('several at once with one id all succeed and grant one', async server => {
      const { id: user_id } = await newUser(server)
      const given = { ...lantern(server, user_id), id: crypto.randomUUID() }
      const answers = await Promise.all([1, 2, 3, 4].map(() => grant(server, [given])))
      expect(answers.map(answer => answer.status)).toEqual([200, 200, 200, 200])
      expect(await ofUser(server, user_id)).toHaveLength(1)
    })

    ok('without ids the same grant twice makes two', async server => {
      const { id: user_id } = await newUser(server)
      await grant(server, [lantern(server, user_id), lantern(server, user_id)])
      expect(await ofUser(server, user_id)).toHaveLength(2)
    })

    for (const [field, unknown] of [
      ['user_id', '999'],
      ['game_id', '998'],
      ['benefit_id', UNKNOWN_UUID],
    ] as const) {
      fails('unknown_reference', `when one ${field} does not exist, and grants none`, async server => {
        const { id: user_id } = await newUser(server)
        const good = lantern(server, user_id)
        const answer = naming(unknown, grant(server, [good, { ...good, [field]: unknown }]))
        await answer
        expect(await ofUser(server, user_id)).toEqual([])
        return answer
      })
    }
    fails('refused_reference', "when the game is another organization's than the benefit", async server => {
      const game_id = await foreignGame(server)
      const { id: user_id } = await newUser(server)
      const good = lantern(server, user_id)
      const answer = naming(game_id, grant(server, [good, { ...good, game_id }]))
      await answer
      expect(await ofUser(server, user_id)).toEqual([])
      return answer
    })
    ok('takes the campaign that it is granted in', async server => {
      const campaign = await newCampaign(server)
      const wanted = { ...lantern(server), campaign_id: campaign.id.toUpperCase() }
      const { body } = await grant(server, [wanted])
      const [row] = await server.execute(
        `select number from campaigns where number = (select campaign from organization_entitlements order by timestamp desc limit 1)`,
      )
      const [known] = await server.execute(`select number from campaigns where id = '${campaign.id}'`)
      expect([body.data.length, row]).toEqual([1, known])
    })
    fails('unknown_reference', 'when the campaign does not exist', server =>
      naming(UNKNOWN_UUID, grant(server, [{ ...lantern(server), campaign_id: UNKNOWN_UUID }])),
    )
    fails(
      'refused_reference',
      "when the campaign is another organization's than the benefit",
      async server => {
        const organization_id = server.world.other_organization.id
        const game_id = await foreignGame(server)
        const campaign = await newCampaign(server, { organization_id, game_id, drops: [] })
        return naming(campaign.id, grant(server, [{ ...lantern(server), campaign_id: campaign.id }]))
      },
    )
    fails('refused_reference', 'when there is no such day', server =>
      grant(server, [{ ...lantern(server), timestamp: '2026-04-31T12:00:00Z' }]),
    )
    for (const [field, change] of [
      ['user', async (server: TestServer) => ({ user_id: (await newUser(server)).id })],
      ['timestamp', async () => ({ timestamp: '2026-01-02T03:04:05Z' })],
      [
        'benefit',
        async ({ control, world }: TestServer) => {
          const organization_id = world.organization.id
          const [benefit] = await control('POST', '/benefits', { name: 'Other', organization_id })
          return { benefit_id: benefit.id }
        },
      ],
    ] as const) {
      fails(
        'entitlement_conflict',
        `when the id exists with another ${field}, and grants none`,
        async server => {
          const { id: user_id } = await newUser(server)
          const given = { ...lantern(server, user_id), id: crypto.randomUUID() }
          const first = await grant(server, [given])
          const other = { ...given, ...(await change(server)) }
          const answer = naming(given.id, grant(server, [lantern(server, user_id), other]))
          await answer
          expect(await ofUser(server, user_id)).toEqual(first.body.data)
          return answer
        },
      )
    }
    fails('entitlement_conflict', 'when two of one call disagree, and grants none', async server => {
      const { id: user_id } = await newUser(server)
      const given = { ...lantern(server, user_id), id: crypto.randomUUID() }
      const answer = await grant(server, [given, { ...given, user_id: server.world.viewer.id }])
      expect(await ofUser(server, user_id)).toEqual([])
      return answer
    })
    fails('malformed_parameter', 'when there is none', server => naming('grants', grant(server, [])))
    fails('malformed_parameter', 'when there are 1001', server =>
      naming('grants', grant(server, Array(1001).fill(lantern(server)))),
    )
    for (const [title, change] of [
      ['an id is not a UUID', { id: '42' }],
      ['a user_id is not a number', { user_id: 'abc' }],
      ['a timestamp has an offset', { timestamp: '2026-01-02T03:04:05+01:00' }],
    ] as const) {
      fails('malformed_parameter', `when ${title}`, server =>
        grant(server, [{ ...lantern(server), ...change }]),
      )
    }
    for (const name of ['user_id', 'benefit_id', 'game_id']) {
      fails('missing_parameter', `when a grant has no ${name}`, server =>
        grant(server, [lantern(server), { ...lantern(server), [name]: undefined }]),
      )
    }
  },
)

describeOperation(listEntitlements, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  const everything = (server: TestServer) => walk(server, PATH, { first: 100 })

  ok('pages to the end, newest first, every one once, of every organization', async server => {
    const all = await everything(server)
    expect(all.length).toBeGreaterThanOrEqual(135)
    expect(new Set(idsOf(all)).size).toBe(all.length)
    const keys = all.map(each => `${each.timestamp} ${each.id}`)
    expect(keys).toEqual(keys.toSorted().reverse())
    for (const query of [{}, { first: 7 }]) expect(await walk(server, PATH, query)).toEqual(all)
  })

  ok('rows of one moment are ordered by id, and pages cut between them', async server => {
    const { id: user_id } = await newUser(server)
    const timestamp = '2026-01-02T03:04:05Z'
    await grant(server, Array(7).fill({ ...lantern(server, user_id), timestamp }))
    const ids = idsOf(await walk(server, PATH, { user_id, first: 2 }))
    expect(ids).toHaveLength(7)
    expect(ids).toEqual(ids.toSorted().reverse())
  })

  ok('every filter holds, alone and together', async server => {
    const { viewer, game, organization, other_organization } = server.world
    const all = await everything(server)
    const held = (query: Record<string, string>) =>
      all.filter(each => Object.entries(query).every(([name, value]) => each[name] === value))
    for (const query of [
      { user_id: viewer.id },
      { game_id: game.id },
      { fulfillment_status: 'FULFILLED' },
      { fulfillment_status: 'CLAIMED' },
      { user_id: viewer.id, game_id: game.id, fulfillment_status: 'CLAIMED' },
    ]) {
      expect(held(query).length).toBeGreaterThan(0)
      expect(await walk(server, PATH, { ...query, first: 3 })).toEqual(held(query))
    }
    const own = await walk(server, PATH, { organization_id: organization.id.toUpperCase(), first: 50 })
    const foreign = await walk(server, PATH, { organization_id: other_organization.id })
    expect(foreign).toHaveLength(15)
    expect([...idsOf(own), ...idsOf(foreign)].sort()).toEqual(idsOf(all).sort())
  })

  ok('a batch of 100 ids comes whole, in either case; unknown ones are absent', async server => {
    const ids = idsOf(await everything(server)).slice(0, 99)
    const asked = [...ids.map((id, index) => (index % 2 === 0 ? id : id.toUpperCase())), UNKNOWN_UUID]
    const { body } = await list(server, { id: asked })
    expect(idsOf(body.data)).toEqual(ids)
    expect(body.pagination).toEqual({})
  })

  ok('a filter that names nothing matches nothing', async server => {
    for (const query of [{ user_id: '999' }, { game_id: 'abc' }, { organization_id: UNKNOWN_UUID }]) {
      expect((await list(server, query)).body).toEqual({ data: [], pagination: {} })
    }
  })

  fails('malformed_parameter', 'when an id is not a UUID', server => list(server, { id: ['42'] }))
  fails('malformed_parameter', 'when there are 101 ids', server =>
    list(server, { id: Array(101).fill(UNKNOWN_UUID) }),
  )
  fails('malformed_parameter', 'when the status is another', server =>
    list(server, { fulfillment_status: 'LOST' }),
  )
  fails('malformed_parameter', 'when first is 0', server => list(server, { first: 0 }))
  fails('invalid_cursor', 'when the filter changes within a walk', async server => {
    const start = await list(server, { first: 1 })
    return list(server, { after: start.body.pagination.cursor, user_id: server.world.viewer.id })
  })
})

describeOperation(
  getEntitlementHistory,
  {
    valid: async server => {
      const { body } = await grant(server, [lantern(server)])
      return asOperator(server, { path: historyAt(body.data[0].id) })
    },
  },
  ({ ok, fails }) => {
    const history = (server: TestServer, id: string) =>
      send(server, getEntitlementHistory, asOperator(server, { path: historyAt(id) }))
    const setTo = (server: TestServer, token: string, id: string, fulfillment_status: string) =>
      server.call({
        method: 'PATCH',
        path: '/helix/entitlements/drops',
        body: { entitlement_ids: [id], fulfillment_status },
        token,
      })

    ok('shows the grant and each change since, oldest first, and by whom', async server => {
      const { client, viewer } = server.world
      const { body } = await grant(server, [{ ...lantern(server), timestamp: '2026-01-02T03:04:05Z' }])
      const [{ id, timestamp }] = body.data
      await setTo(server, client.app_token, id, 'FULFILLED')
      await setTo(server, client.app_token, id, 'FULFILLED')
      await setTo(server, viewer.token, id, 'CLAIMED')
      const { data } = (await history(server, id)).body
      const app = `client/${client.id}`
      expect(data).toEqual([
        { at: timestamp, from: null, to: 'CLAIMED', actor: 'operator' },
        { at: expect.any(String), from: 'CLAIMED', to: 'FULFILLED', actor: app },
        { at: expect.any(String), from: 'FULFILLED', to: 'CLAIMED', actor: `${app}/user/${viewer.id}` },
      ])
      expect((await history(server, id.toUpperCase())).body.data).toEqual(data)
    })

    ok('a grant that was one of many has no actor, and nothing has happened to it yet', async server => {
      const { body } = await grant(server, [lantern(server), lantern(server)])
      for (const { id, timestamp } of body.data) {
        expect((await history(server, id)).body).toEqual({
          data: [{ at: timestamp, from: null, to: 'CLAIMED', actor: null }],
          pagination: {},
        })
      }
    })

    ok('a status that came with an import is the last step, and no user is named', async server => {
      const id = crypto.randomUUID()
      const { user_id, benefit_id, game_id } = lantern(server)
      const line = { type: 'entitlement', id, user_id, benefit_id, game_id }
      const times = { timestamp: '2026-01-01T00:00:00.000Z', last_updated: '2026-01-02T00:00:00.000Z' }
      const rawBody = JSON.stringify({ ...line, ...times, fulfillment_status: 'FULFILLED' })
      await server.call({
        method: 'POST',
        path: '/control/import',
        rawBody,
        token: server.world.operator_token,
      })
      const all = [
        { at: times.timestamp, from: null, to: 'CLAIMED', actor: null },
        { at: times.last_updated, from: 'CLAIMED', to: 'FULFILLED', actor: null },
      ]
      for (const query of [{}, { first: 1 }, { first: 2 }]) {
        expect(await walk(server, historyAt(id), query)).toEqual(all)
      }
    })

    ok('pages to the end, every step once', async server => {
      const { body } = await grant(server, [lantern(server)])
      const [{ id }] = body.data
      for (let n = 0; n < 22; n++) {
        await setTo(server, server.world.client.app_token, id, n % 2 === 0 ? 'FULFILLED' : 'CLAIMED')
      }
      const all = await walk(server, historyAt(id), { first: 100 })
      expect(all.map(step => step.to)).toEqual(
        Array.from({ length: 23 }, (_, n) => (n % 2 === 0 ? 'CLAIMED' : 'FULFILLED')),
      )
      for (const query of [{}, { first: 1 }, { first: 4 }]) {
        expect(await walk(server, historyAt(id), query)).toEqual(all)
      }
    })

    ok('pages to the end, also over changes of several entitlements at once', async server => {
      const { body } = await grant(server, [lantern(server), lantern(server)])
      const entitlement_ids = body.data.map((each: { id: string }) => each.id)
      const [id] = entitlement_ids
      const setAll = (fulfillment_status: string) =>
        server.call({
          method: 'PATCH',
          path: '/helix/entitlements/drops',
          body: { entitlement_ids, fulfillment_status },
          token: server.world.client.app_token,
        })
      await setAll('FULFILLED')
      await setTo(server, server.world.client.app_token, id, 'CLAIMED')
      await setAll('FULFILLED')
      const all = await walk(server, historyAt(id), { first: 100 })
      const actor = `client/${server.world.client.id}`
      expect(all.map(step => [step.to, step.actor])).toEqual([
        ['CLAIMED', null],
        ['FULFILLED', actor],
        ['CLAIMED', actor],
        ['FULFILLED', actor],
      ])
      for (const query of [{ first: 1 }, { first: 2 }, { first: 3 }]) {
        expect(await walk(server, historyAt(id), query)).toEqual(all)
      }
    })

    fails('not_found', 'when it does not exist', server =>
      naming(UNKNOWN_UUID, history(server, UNKNOWN_UUID)),
    )
    fails('not_found', 'when the id is not one', server => history(server, 'abc'))
  },
)

describeOperation(
  getEntitlement,
  {
    valid: async server => {
      const { body } = await grant(server, [lantern(server)])
      return asOperator(server, { path: `${PATH}/${body.data[0].id}` })
    },
  },
  ({ ok, fails }) => {
    const show = (server: TestServer, id: string) =>
      send(server, getEntitlement, asOperator(server, { path: `${PATH}/${id}` }))

    ok('shows it as it was granted, its id in either case', async server => {
      const { body } = await grant(server, [lantern(server)])
      const [{ id }] = body.data
      for (const each of [id, id.toUpperCase()])
        expect((await show(server, each)).body.data).toEqual(body.data)
    })

    fails('not_found', 'when it does not exist', server => naming(UNKNOWN_UUID, show(server, UNKNOWN_UUID)))
  },
)
