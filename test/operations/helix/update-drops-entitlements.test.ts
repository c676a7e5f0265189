import { expect } from 'bun:test'
import { updateDropsEntitlements } from '../../../src/contract/helix/update-drops-entitlements.ts'
import { describeOperation, expectProblem, retryWhileUnavailable, send } from '../../support/operation.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'
import { newClient, tokenOf } from './callers.ts'
import { entitlementsOf, newOrganization } from './drops-organization.ts'
import { idsOf, type Row, withMessage } from './page-rules.ts'

const UNKNOWN = '00000000-0000-4000-8000-00000000beef'

/** Asks to set these ids, by default for the world's client. */
const set = (server: TestServer, entitlement_ids: unknown, status = 'FULFILLED', changes: Ask = {}) =>
  send(server, updateDropsEntitlements, {
    token: server.world.client.app_token,
    body: { entitlement_ids, fulfillment_status: status },
    ...changes,
  })
const ownRows = (server: TestServer, query: Record<string, string> = {}) =>
  entitlementsOf(server, { organization_id: server.world.organization.id, ...query })
const foreignRows = (server: TestServer) =>
  entitlementsOf(server, { organization_id: server.world.other_organization.id })
const rowOf = async (server: TestServer, id: string): Promise<Row> =>
  (await entitlementsOf(server, { id }))[0]

const valid = async (server: TestServer): Promise<Ask> => {
  const [row] = await ownRows(server)
  return {
    token: server.world.client.app_token,
    body: { entitlement_ids: [row.id], fulfillment_status: 'FULFILLED' },
  }
}

/** A call that must be refused and must leave every row of both organizations as it was. */
async function refused(server: TestServer, call: () => Promise<Answer>): Promise<Answer> {
  const everything = async () => JSON.stringify([await ownRows(server), await foreignRows(server)])
  const before = await everything()
  const answer = await call()
  expect(await everything()).toBe(before)
  return answer
}

describeOperation(updateDropsEntitlements, { valid }, ({ ok, fails }) => {
  ok('answers all five statuses, in the order of the groups, each id as sent', async server => {
    const [done, alsoDone, failing] = idsOf(await ownRows(server)) as [string, string, string]
    const [foreign] = await foreignRows(server)
    const before = await rowOf(server, failing)
    await server.control('POST', '/faults', {
      operation: 'UpdateDropsEntitlements',
      entitlement_id: failing.toUpperCase(),
      outcome: 'update_failed',
      times: 1,
    })
    const ids = [failing, foreign.id, UNKNOWN, 'not-an-id', done, alsoDone.toUpperCase()]
    const answer = await set(server, ids)
    expect(answer.body).toEqual({
      data: [
        { status: 'SUCCESS', ids: [done, alsoDone.toUpperCase()] },
        { status: 'INVALID_ID', ids: ['not-an-id'] },
        { status: 'NOT_FOUND', ids: [UNKNOWN] },
        { status: 'UNAUTHORIZED', ids: [foreign.id] },
        { status: 'UPDATE_FAILED', ids: [failing] },
      ],
    })
    expect(await rowOf(server, failing)).toEqual(before)
    expect((await rowOf(server, alsoDone)).fulfillment_status).toBe('FULFILLED')
    const again = await set(server, [failing])
    expect(again.body).toEqual({ data: [{ status: 'SUCCESS', ids: [failing] }] })
  })

  ok('goes in both directions, and changes status and last_updated alone', async server => {
    const own = await newOrganization(server)
    const [row] = await own.grant([server.world.viewer.id])
    let before = row
    expect(before.fulfillment_status).toBe('CLAIMED')
    for (const status of ['FULFILLED', 'CLAIMED', 'CLAIMED', 'FULFILLED', 'FULFILLED']) {
      const answer = await set(server, [row.id], status, { token: own.token })
      expect(answer.body).toEqual({ data: [{ status: 'SUCCESS', ids: [row.id] }] })
      const after = await rowOf(server, row.id)
      expect(after.last_updated > before.last_updated).toBe(true)
      expect(after).toEqual({
        ...row,
        fulfillment_status: status,
        last_updated: after.last_updated,
        updated_at: after.last_updated,
      })
      before = after
    }
  })

  ok('last_updated moves forward at each success though the clock stands or goes back', async server => {
    const own = await newOrganization(server)
    const [{ id }] = await own.grant([server.world.viewer.id])
    const { clock } = server.strand.services.demo ?? {}
    const seen: string[] = []
    const update = async () => {
      await set(server, [id], 'CLAIMED', { token: own.token })
      seen.push((await rowOf(server, id)).last_updated)
    }
    for (let n = 0; n < 15; n++) await update()
    clock?.advance(-60_000)
    for (let n = 0; n < 3; n++) await update()
    clock?.advance(60_000)
    await update()
    expect(seen).toEqual([...new Set(seen)].toSorted())
  })

  ok('shows the new state to the next listing', async server => {
    const own = await newOrganization(server)
    const [{ id }] = await own.grant([server.world.viewer.id])
    await set(server, [id], 'FULFILLED', { token: own.token })
    const listing = await server.call({
      path: '/helix/entitlements/drops',
      token: own.token,
      query: { fulfillment_status: 'FULFILLED' },
    })
    expect(idsOf(listing.body.data)).toEqual([id])
  })

  ok('an id sent twice, or in two spellings, is answered once as first sent', async server => {
    const [one, two] = idsOf(await ownRows(server)) as [string, string]
    const answer = await set(server, [
      two.toUpperCase(),
      one,
      two,
      one,
      one.toUpperCase(),
      'x',
      'x',
      'X',
      UNKNOWN.toUpperCase(),
      UNKNOWN,
    ])
    expect(answer.body.data).toEqual([
      { status: 'SUCCESS', ids: [two.toUpperCase(), one] },
      { status: 'INVALID_ID', ids: ['x', 'X'] },
      { status: 'NOT_FOUND', ids: [UNKNOWN.toUpperCase()] },
    ])
  })

  ok('what is not UUID-shaped is INVALID_ID, the empty string included', async server => {
    const ids = [
      '',
      ' ',
      'null',
      `${UNKNOWN} `,
      `${UNKNOWN}\n`,
      `{${UNKNOWN}}`,
      UNKNOWN.replaceAll('-', ''),
      UNKNOWN.replace('b', 'g'),
      `${UNKNOWN},${UNKNOWN}`,
      '__proto__',
      "'; drop table entitlements; --",
      '\u{1F98A}'.repeat(300),
      'ﬀ'.repeat(36),
    ]
    const answer = await set(server, ids)
    expect(answer.body).toEqual({ data: [{ status: 'INVALID_ID', ids }] })
  })

  ok('any version of UUID is an id', async server => {
    const ids = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
    expect((await set(server, ids)).body).toEqual({ data: [{ status: 'NOT_FOUND', ids }] })
  })

  ok('takes 100 ids at once, and one', async server => {
    const own = await newOrganization(server)
    const ids = idsOf(await own.grant(Array(100).fill(server.world.viewer.id)))
    const answer = await set(server, ids, 'FULFILLED', { token: own.token })
    expect(answer.body).toEqual({ data: [{ status: 'SUCCESS', ids }] })
    const rows = await entitlementsOf(server, { organization_id: own.id })
    expect(rows.every(row => row.fulfillment_status === 'FULFILLED')).toBe(true)
  })

  ok("another organization's rows stay as they are to the last byte", async server => {
    const before = await foreignRows(server)
    const answer = await set(server, idsOf(before), 'CLAIMED')
    expect(answer.body).toEqual({ data: [{ status: 'UNAUTHORIZED', ids: idsOf(before) }] })
    expect(JSON.stringify(await foreignRows(server))).toBe(JSON.stringify(before))
  })

  ok("a user token sets its user's rows of its organization and no others", async server => {
    const { viewer, editor } = server.world
    const own = await newOrganization(server)
    const [mine, theirs] = await own.grant([viewer.id, editor.id])
    const [elsewhere] = await ownRows(server, { user_id: viewer.id })
    const answer = await set(server, [theirs.id, elsewhere.id, mine.id], 'FULFILLED', {
      token: await own.userToken(viewer.id),
    })
    expect(answer.body.data).toEqual([
      { status: 'SUCCESS', ids: [mine.id] },
      { status: 'UNAUTHORIZED', ids: [theirs.id, elsewhere.id] },
    ])
    expect(await rowOf(server, theirs.id)).toEqual(theirs)
    expect(await rowOf(server, elsewhere.id)).toEqual(elsewhere)
  })

  ok('further fields are ignored, __proto__ and its kin without effect', async server => {
    const [{ id }] = await ownRows(server)
    const rawBody = `{"__proto__":{"fulfillment_status":"X","polluted":1},"constructor":{"prototype":{"polluted":1}},
      "toString":1,"user_id":7,"entitlement_ids":["${id}"],"fulfillment_status":"CLAIMED","first":"x"}`
    const answer = await set(server, [], '', { body: undefined, rawBody })
    expect(answer.body).toEqual({ data: [{ status: 'SUCCESS', ids: [id] }] })
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect((await rowOf(server, id)).fulfillment_status).toBe('CLAIMED')
  })

  ok('batches that overlap in any order all succeed', async server => {
    const own = await newOrganization(server)
    const ids = idsOf(await own.grant(Array(20).fill(server.world.viewer.id)))
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) => {
        const order = n % 2 ? ids : ids.toReversed()
        return retryWhileUnavailable(() =>
          set(server, order, n % 3 ? 'CLAIMED' : 'FULFILLED', { token: own.token }),
        )
      }),
    )
    for (const answer of answers)
      expect(answer.body.data.map((group: Row) => group.status)).toEqual(['SUCCESS'])
    const statuses = (await entitlementsOf(server, { organization_id: own.id })).map(
      row => row.fulfillment_status,
    )
    expect(new Set(statuses).size).toBe(1)
  })

  fails('missing_parameter', 'with an empty object, naming the first one', async server =>
    withMessage(await set(server, [], '', { body: {} }), 'Missing required parameter "entitlement_ids"'),
  )
  fails('missing_parameter', 'without a body', async server =>
    withMessage(
      await send(server, updateDropsEntitlements, { token: server.world.client.app_token }),
      'Missing required parameter "entitlement_ids"',
    ),
  )
  fails('missing_parameter', 'when the fields come in the query string', async server =>
    send(server, updateDropsEntitlements, {
      token: server.world.client.app_token,
      query: { entitlement_ids: UNKNOWN, fulfillment_status: 'CLAIMED' },
    }),
  )
  fails('malformed_parameter', 'with an empty list', server => refused(server, () => set(server, [])))
  fails('malformed_parameter', 'with 101 ids, and nothing is changed', async server => {
    const ids = idsOf(await ownRows(server))
    return refused(server, async () =>
      withMessage(
        await set(server, [...ids, ...ids].slice(0, 101), 'CLAIMED'),
        'The parameter "entitlement_ids" was malformed: the value must be less than or equal to 100',
      ),
    )
  })
  fails('malformed_parameter', 'with a NUL in one id, and nothing is changed', async server => {
    const [claimed] = await ownRows(server, { fulfillment_status: 'CLAIMED' })
    return refused(server, () => set(server, [claimed.id, `${UNKNOWN}\0`]))
  })
  fails('malformed_parameter', 'with a lone surrogate in one id, and nothing is changed', async server => {
    const [claimed] = await ownRows(server, { fulfillment_status: 'CLAIMED' })
    return refused(server, () => set(server, [claimed.id, 'a\udc00']))
  })
  fails('malformed_parameter', 'when an id is not a string, and nothing is changed', async server => {
    const [claimed] = await ownRows(server, { fulfillment_status: 'CLAIMED' })
    for (const wrong of [1, null, {}, [], true]) {
      const answer = await refused(server, () => set(server, [claimed.id, wrong]))
      expectProblem(updateDropsEntitlements, answer, 'malformed_parameter')
    }
    return refused(server, () => set(server, claimed.id))
  })
  fails('malformed_parameter', 'when the status is another word, and nothing is changed', async server => {
    const [{ id }] = await ownRows(server)
    for (const status of ['', 'claimed', 'DONE', 'UPDATE_FAILED', 'FULFILLED ']) {
      const answer = await refused(server, () => set(server, [id], status))
      expectProblem(updateDropsEntitlements, answer, 'malformed_parameter')
    }
    return withMessage(
      await set(server, [id], 'DONE'),
      'The parameter "fulfillment_status" was malformed: value must be one of "CLAIMED", "FULFILLED"',
    )
  })
  fails('malformed_parameter', 'when the list is nested beyond all reason', server => {
    const depth = 30_000
    const rawBody = `{"entitlement_ids":${'['.repeat(depth)}${']'.repeat(depth)},"fulfillment_status":"CLAIMED"}`
    return set(server, [], '', { body: undefined, rawBody })
  })
  for (const [title, rawBody] of [
    ['null', 'null'],
    ['a string', '"x"'],
    ['two objects', '{}{}'],
    ['JSON with a comment', '{/**/}'],
  ] as const) {
    fails('malformed_json', `when the body is ${title}`, server =>
      set(server, [], '', { body: undefined, rawBody }),
    )
  }
  fails('unavailable', 'when the store cannot be reached, and nothing is changed', async server => {
    const [claimed] = await ownRows(server, { fulfillment_status: 'CLAIMED' })
    await server.control('POST', '/faults', {
      operation: 'UpdateDropsEntitlements',
      outcome: 'unavailable',
    })
    return refused(server, () => set(server, [claimed.id]))
  })
  fails('no_organization', 'when the client belongs to none', async server => {
    const token = await tokenOf(server, { client_id: await newClient(server, null) })
    return set(server, [UNKNOWN], 'CLAIMED', { token })
  })
})
