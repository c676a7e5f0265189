import { expect } from 'bun:test'
import { getDropsEntitlements } from '../../../src/contract/helix/get-drops-entitlements.ts'
import { describeOperation, expectProblem, send } from '../../support/operation.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'
import { newClient, tokenOf } from './callers.ts'
import { entitlementsOf, newOrganization } from './drops-organization.ts'
import { cursorOf, idsOf, provePages, type Row, walk, withMessage } from './page-rules.ts'

const ask = (server: TestServer, changes: Ask = {}) => send(server, getDropsEntitlements, changes)
const valid = ({ world }: TestServer): Ask => ({ token: world.client.app_token })
const UNKNOWN = '00000000-0000-4000-8000-00000000beef'

/** Everything that the caller sees, in order. */
const everything = (server: TestServer, changes: Ask = {}) =>
  walk(server, getDropsEntitlements, { ...valid(server), ...changes }, () => 100)

/** Newest first, then the larger id. */
const inOrder = (rows: readonly Row[]) =>
  rows.toSorted((a, b) => (a.timestamp + a.id < b.timestamp + b.id ? 1 : -1))

const foreignEntitlement = async (server: TestServer): Promise<Row> => {
  const [row] = await entitlementsOf(server, { organization_id: server.world.other_organization.id })
  return row
}

describeOperation(getDropsEntitlements, { valid }, proofs => {
  const { ok, fails } = proofs

  provePages(proofs, {
    operation: getDropsEntitlements,
    ask: valid,
    otherFilters: ({ world }) => ({ user_id: world.viewer.id }),
    otherCallers: async server => [
      server.world.viewer.token,
      await tokenOf(server, { client_id: await newClient(server, server.world.organization.id) }),
    ],
  })

  ok('lists the eight fields, newest first, then by id', async server => {
    const rows = await everything(server)
    expect(rows.length).toBeGreaterThanOrEqual(120)
    expect(idsOf(rows)).toEqual(idsOf(inOrder(rows)))
    for (const row of rows) {
      expect(Object.keys(row)).toEqual([
        'id',
        'benefit_id',
        'timestamp',
        'user_id',
        'game_id',
        'fulfillment_status',
        'last_updated',
        'updated_at',
      ])
      for (const time of [row.timestamp, row.last_updated]) {
        expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      }
      for (const id of [row.id, row.benefit_id])
        expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
      for (const id of [row.user_id, row.game_id]) expect(id).toMatch(/^[1-9][0-9]*$/)
      expect(row.updated_at).toBe(row.last_updated)
      expect(row.last_updated >= row.timestamp).toBe(true)
      expect(['CLAIMED', 'FULFILLED']).toContain(row.fulfillment_status)
    }
  })

  ok('rows of the same millisecond are ordered by id, and paged without loss', async server => {
    const own = await newOrganization(server)
    const granted = await own.grant(Array(30).fill(server.world.viewer.id), '2026-01-01T00:00:00.000Z')
    const ids = idsOf(granted).toSorted().toReversed()
    for (const size of [1, 7, 100]) {
      const rows = await walk(server, getDropsEntitlements, { token: own.token }, () => size)
      expect(idsOf(rows)).toEqual(ids)
    }
  })

  ok('20 rows without first; 100 with id and no first; first counts with id too', async server => {
    const plain = await ask(server, valid(server))
    expect(plain.body.data).toHaveLength(20)
    expect(cursorOf(plain)).toBeDefined()
    const ids = idsOf(await everything(server)).slice(0, 100)
    const batch = await ask(server, { ...valid(server), query: { id: ids } })
    expect(idsOf(batch.body.data)).toEqual(ids)
    expect(batch.body.pagination).toEqual({})
    const some = await ask(server, { ...valid(server), query: { id: ids, first: 3 } })
    expect(idsOf(some.body.data)).toEqual(ids.slice(0, 3))
    const rest = await ask(server, { ...valid(server), query: { id: ids, after: cursorOf(some) } })
    expect(idsOf(rest.body.data)).toEqual(ids.slice(3))
    const absent = await ask(server, { ...valid(server), search: 'id=' })
    expect(absent.body.data).toHaveLength(20)
  })

  ok('ids match in either case, once, and unknown ones are absent', async server => {
    const [one, two] = idsOf(await everything(server)) as [string, string]
    const answer = await ask(server, {
      ...valid(server),
      query: { id: [two.toUpperCase(), one, UNKNOWN, one.toUpperCase(), two] },
    })
    expect(idsOf(answer.body.data)).toEqual([one, two])
    expect(answer.body.pagination).toEqual({})
    const nothing = await ask(server, { ...valid(server), query: { id: UNKNOWN } })
    expect(nothing.body).toEqual({ data: [], pagination: {} })
  })

  ok("an app token sees the organization's rows only", async server => {
    const { world } = server
    const own = new Set(idsOf(await everything(server)))
    const others = await everything(server, { token: world.other_client.app_token })
    expect(others.length).toBeGreaterThanOrEqual(15)
    for (const id of idsOf(others)) expect(own.has(id)).toBe(false)
    const stored = await entitlementsOf(server, { organization_id: world.other_organization.id })
    expect(others).toEqual(stored)
  })

  ok("a user token sees its user's rows of that organization only", async server => {
    const { viewer } = server.world
    const expected = (await everything(server)).filter(row => row.user_id === viewer.id)
    expect(expected.length).toBeGreaterThanOrEqual(15)
    for (const query of [{}, { user_id: viewer.id }]) {
      const rows = await everything(server, { token: viewer.token, query })
      expect(rows).toEqual(expected)
    }
    const [someone] = server.world.users.slice(-1)
    const nothing = await ask(server, { token: someone?.token })
    expect(nothing.body).toEqual({ data: [], pagination: {} })
  })

  ok('a client without entitlements gets an empty list', async server => {
    const { token } = await newOrganization(server)
    expect((await ask(server, { token })).body).toEqual({ data: [], pagination: {} })
  })

  ok('filters by user, game and status, all together', async server => {
    const all = await everything(server)
    const [sample] = all
    for (const query of [
      { user_id: sample.user_id },
      { game_id: sample.game_id },
      { fulfillment_status: 'CLAIMED' },
      { fulfillment_status: 'FULFILLED' },
      { user_id: sample.user_id, game_id: sample.game_id, fulfillment_status: sample.fulfillment_status },
      { id: all.slice(0, 9).map(row => row.id), fulfillment_status: 'CLAIMED' },
    ]) {
      const expected = all.filter(row =>
        Object.entries(query).every(([name, value]) => [value].flat().includes(row[name])),
      )
      expect(expected.length).toBeGreaterThan(0)
      expect(await everything(server, { query })).toEqual(expected)
    }
  })

  ok('a user_id that is unknown or no number matches nothing', async server => {
    for (const user_id of [
      '999',
      'abc',
      `0${server.world.viewer.id}`,
      '1,2',
      "' or 1=1 --",
      '9'.repeat(400),
    ]) {
      const answer = await ask(server, { ...valid(server), query: { user_id } })
      expect(answer.body).toEqual({ data: [], pagination: {} })
    }
  })

  ok('unknown parameters and empty ones are passed over', async server => {
    const plain = await ask(server, valid(server))
    const odd = await ask(server, {
      ...valid(server),
      search: '&&before=x&organization_id=1&__proto__=1&constructor=2&user_id=&game_id=&fulfillment_status=&',
      headers: { Accept: 'application/vnd.twitchtv.v5+json', 'Content-Type': 'application/json' },
    })
    expect(odd.body).toEqual(plain.body)
  })

  ok('rows that arrive during a walk do not disturb it', async server => {
    const own = await newOrganization(server)
    const { viewer, editor } = server.world
    const people = Array.from({ length: 12 }, (_, index) => (index % 2 ? viewer.id : editor.id))
    const first = await own.grant(people, '2026-02-01T00:00:00.000Z')
    const second = await own.grant(people)
    const seen = await walk(
      server,
      getDropsEntitlements,
      { token: own.token },
      () => 5,
      async () => {
        await own.grant([viewer.id])
      },
    )
    expect(idsOf(seen)).toEqual(idsOf(inOrder([...first, ...second])))
  })

  ok('an update during a walk moves no row', async server => {
    const own = await newOrganization(server)
    const granted = await own.grant(Array(9).fill(server.world.viewer.id))
    const seen = await walk(
      server,
      getDropsEntitlements,
      { token: own.token },
      () => 2,
      async page => {
        await server.call({
          method: 'PATCH',
          path: '/helix/entitlements/drops',
          token: own.token,
          body: { entitlement_ids: idsOf(granted), fulfillment_status: page % 2 ? 'CLAIMED' : 'FULFILLED' },
        })
      },
    )
    expect(idsOf(seen)).toEqual(idsOf(inOrder(granted)))
  })

  ok('a cursor does not mind the order of the filters', async server => {
    const { game } = server.world
    const page = await ask(server, {
      ...valid(server),
      search: `game_id=${game.id}&fulfillment_status=CLAIMED&first=1`,
    })
    const next = await ask(server, {
      ...valid(server),
      search: `fulfillment_status=CLAIMED&after=${cursorOf(page)}&game_id=${game.id}&first=2`,
    })
    const all = await everything(server, { query: { game_id: game.id, fulfillment_status: 'CLAIMED' } })
    expect(idsOf(next.body.data)).toEqual(idsOf(all).slice(1, 3))
  })

  fails('invalid_cursor', 'when the cursor is of another operation', async server => {
    const token = server.world.viewer.token
    const streams = await server.call({ path: '/helix/streams', token, query: { first: 1 } })
    return withMessage(await ask(server, { token, query: { after: cursorOf(streams) } }), 'invalid cursor')
  })

  fails('malformed_parameter', 'when fulfillment_status is another word', async server => {
    const message =
      'The parameter "fulfillment_status" was malformed: value must be one of "CLAIMED", "FULFILLED"'
    const answers: Answer[] = []
    for (const fulfillment_status of ['claimed', 'DONE', 'CLAIMED,FULFILLED', ' CLAIMED', 'toString']) {
      const answer = await ask(server, { ...valid(server), query: { fulfillment_status } })
      expectProblem(getDropsEntitlements, withMessage(answer, message), 'malformed_parameter')
      answers.push(answer)
    }
    return answers.at(-1) as Answer
  })
  fails('malformed_parameter', 'with more than 100 ids, though they be one id', async server =>
    withMessage(
      await ask(server, { ...valid(server), query: { id: Array(101).fill(UNKNOWN) } }),
      'The parameter "id" was malformed: the value must be less than or equal to 100',
    ),
  )
  fails('malformed_parameter', 'when an id is not UUID-shaped', async server => {
    const bad = [`{${UNKNOWN}}`, UNKNOWN.replaceAll('-', ''), `${UNKNOWN},${UNKNOWN}`, `${UNKNOWN}\n`, 'x']
    for (const id of bad) {
      const answer = await ask(server, { ...valid(server), query: { id } })
      expectProblem(getDropsEntitlements, answer, 'malformed_parameter')
    }
    return ask(server, { ...valid(server), query: { id: [UNKNOWN, 'not-an-id'] } })
  })
  for (const name of ['game_id', 'fulfillment_status']) {
    fails('repeated_parameter', `when ${name} is given twice`, server =>
      ask(server, { ...valid(server), query: { [name]: ['CLAIMED', 'CLAIMED'] } }),
    )
  }

  fails('no_organization', 'when the client belongs to none, by app token', async server => {
    const client_id = await newClient(server, null)
    return ask(server, { token: await tokenOf(server, { client_id }) })
  })
  fails('no_organization', 'when the client belongs to none, by user token', async server => {
    const client_id = await newClient(server, null)
    const user_id = server.world.viewer.id
    return ask(server, {
      token: await tokenOf(server, { client_id, user_id, scopes: ['user:read:entitlements'] }),
    })
  })
  fails('other_user_filter', 'when a user token asks for another user', server =>
    ask(server, { token: server.world.viewer.token, query: { user_id: server.world.editor.id } }),
  )
  fails('other_user_filter', 'when a user token asks for an unknown user', server =>
    ask(server, { token: server.world.viewer.token, query: { user_id: 'abc' } }),
  )

  const forbiddenGame = async (server: TestServer, game_id: string, token?: string) =>
    withMessage(
      await ask(server, { token: token ?? server.world.client.app_token, query: { game_id } }),
      'game not managed by this organization.',
    )
  const gameOwnedBy = async (server: TestServer, organization_id: string | null) => {
    const [game] = await server.control('POST', '/games', { name: 'Elsewhere', organization_id })
    return game.id
  }
  fails('game_forbidden', 'when the game is of another organization', async server =>
    forbiddenGame(server, await gameOwnedBy(server, server.world.other_organization.id)),
  )
  fails('game_forbidden', 'also with a user token', async server =>
    forbiddenGame(
      server,
      await gameOwnedBy(server, server.world.other_organization.id),
      server.world.viewer.token,
    ),
  )
  fails('game_forbidden', 'when the game has no owner', async server =>
    forbiddenGame(server, await gameOwnedBy(server, null)),
  )
  fails('game_forbidden', 'when there is no such game', server => forbiddenGame(server, '1'))
  fails('game_forbidden', 'when the id is no number', server => forbiddenGame(server, 'abc'))

  fails('entitlement_forbidden', 'when an id is of another organization', async server => {
    const [own] = await everything(server)
    const { id } = await foreignEntitlement(server)
    return ask(server, { ...valid(server), query: { id: [own.id, id] } })
  })
  fails('entitlement_forbidden', 'whatever its case, and whatever else is asked for', async server => {
    const { id } = await foreignEntitlement(server)
    return ask(server, {
      ...valid(server),
      query: { id: id.toUpperCase(), user_id: '999', fulfillment_status: 'CLAIMED' },
    })
  })
  fails('entitlement_forbidden', "when a user token asks for another user's id", async server => {
    const { viewer, editor } = server.world
    const rows = await everything(server)
    const other = rows.find(row => row.user_id === editor.id)
    return ask(server, { token: viewer.token, query: { id: other.id } })
  })
  fails('malformed_parameter', 'parameters are looked at before ownership', async server => {
    const { id } = await foreignEntitlement(server)
    return ask(server, { ...valid(server), query: { id, first: 0 } })
  })
})
