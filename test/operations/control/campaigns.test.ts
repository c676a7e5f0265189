import { expect } from 'bun:test'
import {
  addWatchedMinutes,
  deleteCampaign,
  explainCampaign,
  getCampaign,
  getCampaignReport,
  listCampaigns,
  publishCampaign,
  putCampaign,
  stopCampaign,
} from '../../../src/contract/control/campaigns.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { isoMillis } from '../../../src/kit/time/clock.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import {
  advance,
  campaignBody,
  newBenefit,
  newCampaign,
  newGame,
  newLiveChannel,
  newViewer,
  publishedCampaign,
} from '../drops/campaigns.ts'
import {
  asOperator,
  expectEmpty,
  idsOf,
  naming,
  newOrganization,
  newUser,
  nowOf,
  UNKNOWN_UUID,
  walk,
} from './operator.ts'

const at = (operation: Operation, id: string) => operation.path.replace('{campaign_id}', id)
const put = (server: TestServer, id: string, body: object) =>
  send(server, putCampaign, asOperator(server, { path: at(putCampaign, id), body }))
const call = (server: TestServer, operation: Operation, id: string, query = {}) =>
  send(server, operation, asOperator(server, { path: at(operation, id), query }))
const publish = (server: TestServer, id: string) => call(server, publishCampaign, id)
const stop = (server: TestServer, id: string) => call(server, stopCampaign, id)
const audited = async (server: TestServer, subject: string) =>
  walk(server, '/control/audit', { subject, first: 100 })

const isOnNew = (operation: Operation, make = newCampaign) => ({
  valid: async (server: TestServer) => asOperator(server, { path: at(operation, (await make(server)).id) }),
})

describeOperation(
  putCampaign,
  {
    valid: async server =>
      asOperator(server, { path: at(putCampaign, crypto.randomUUID()), body: await campaignBody(server) }),
  },
  ({ ok, fails }) => {
    ok('creates a draft with defaults; a repeat changes nothing', async server => {
      const [id, body] = [crypto.randomUUID(), await campaignBody(server)]
      const created = await put(server, id.toUpperCase(), body)
      expect(created.body.data).toEqual([
        {
          id,
          ...body,
          state: 'draft',
          phase: null,
          stopped_at: null,
          claim_seconds: 86_400,
          channels: 'all',
          channel_ids: [],
          account_link: 'after_claim',
          link_client_id: null,
          link_url: null,
          auto_claim: false,
        },
      ])
      expect((await put(server, id, body)).body).toEqual(created.body)
      expect((await call(server, getCampaign, id)).body).toEqual(created.body)
      expect(await audited(server, `campaign/${id}`)).toHaveLength(1)
    })

    ok('fields that are left out keep their value; drops are the whole list', async server => {
      const { drops, ...campaign } = await newCampaign(server)
      const { id } = campaign
      const channels = [(await newUser(server)).id, (await newUser(server)).id].sort()
      const more = {
        id: crypto.randomUUID(),
        name: 'More',
        required_minutes: 60,
        benefit_ids: drops[0].benefit_ids,
      }
      for (const change of [
        { name: 'Renamed' },
        { channels: 'listed', channel_ids: channels },
        { drops: [more, drops[0]] },
        { drops: [] },
        { channel_ids: [] },
        { auto_claim: true, claim_seconds: 0 },
        { link_url: 'https://reef.example/link?x=1', link_client_id: server.world.client.id },
        { link_url: null, link_client_id: null },
        { starts_at: isoMillis(nowOf(server) + 5000) },
      ]) {
        const before = (await call(server, getCampaign, id)).body.data[0]
        const answer = await put(server, id, change)
        expect(answer.body).toEqual({ data: [{ ...before, ...change }] })
        expect((await call(server, getCampaign, id)).body).toEqual(answer.body)
      }
    })

    ok('what a published campaign promises can become easier', async server => {
      const campaign = await publishedCampaign(server)
      const [drop] = campaign.drops
      const drops = [
        { ...drop, required_minutes: 20 },
        { ...drop, id: crypto.randomUUID() },
      ]
      const change = { drops, name: 'Easier', claim_seconds: 90_000, account_link: 'none' }
      const answer = await put(server, campaign.id, change)
      expect(answer.body.data).toEqual([{ ...campaign, ...change }])
    })

    const refusesAs = (
      problem: Parameters<typeof fails>[0],
      field: string,
      change: object,
      title = JSON.stringify(change).slice(0, 60),
    ) =>
      fails(problem, `${title}, naming ${field}`, async server => {
        const answer = await put(server, crypto.randomUUID(), await campaignBody(server, change))
        expect(answer.body.message).toContain(field)
        return answer
      })
    for (const name of ['name', 'organization_id', 'game_id', 'starts_at', 'ends_at'])
      refusesAs('missing_parameter', name, { [name]: undefined }, `a new campaign without ${name}`)
    refusesAs('unknown_reference', 'organization', { organization_id: UNKNOWN_UUID })
    refusesAs('unknown_reference', 'game', { game_id: '999' })
    refusesAs('unknown_reference', 'client', { link_client_id: 'unknown' })
    refusesAs('unknown_reference', 'user', { channel_ids: ['999'] })
    const drop = (more: object) => ({
      drops: [{ id: UNKNOWN_UUID, name: 'x', required_minutes: 1, benefit_ids: [UNKNOWN_UUID], ...more }],
    })
    refusesAs('unknown_reference', 'benefit', drop({}))
    fails('refused_reference', 'when the benefit belongs to another organization', async server => {
      const organization_id = (await newOrganization(server)).id
      const benefit = await newBenefit(server, { organization_id })
      return naming(
        benefit.id,
        put(server, crypto.randomUUID(), await campaignBody(server, drop({ benefit_ids: [benefit.id] }))),
      )
    })
    fails('refused_reference', 'when the benefit belongs to another game', async server => {
      const benefit = await newBenefit(server, { game_id: (await newGame(server)).id })
      return naming(
        benefit.id,
        put(server, crypto.randomUUID(), await campaignBody(server, drop({ benefit_ids: [benefit.id] }))),
      )
    })
    fails('refused_reference', 'when the game belongs to another organization', async server => {
      const organization_id = (await newOrganization(server)).id
      const { id } = await newGame(server, { organization_id })
      return naming(id, put(server, crypto.randomUUID(), await campaignBody(server, { game_id: id })))
    })
    fails('refused_reference', 'when the client belongs to another organization', async server => {
      const { id } = server.world.other_client
      return naming(id, put(server, crypto.randomUUID(), await campaignBody(server, { link_client_id: id })))
    })
    refusesAs(
      'malformed_parameter',
      'ends_at',
      { ends_at: '2020-01-01T00:00:00Z' },
      'an end before the start',
    )
    refusesAs(
      'malformed_parameter',
      'ends_at',
      { starts_at: '2026-01-01T00:00:00Z', ends_at: '2027-01-03T00:00:00Z' },
      'more than 366 days',
    )
    for (const required_minutes of [0, 1.5, '30', 10_081, -1, null])
      refusesAs('malformed_parameter', 'required_minutes', drop({ required_minutes }))
    refusesAs(
      'malformed_parameter',
      'required_minutes',
      drop({ required_minutes: 1441 }),
      'more minutes than the window has',
    )
    refusesAs(
      'malformed_parameter',
      'drops',
      { drops: Array.from({ length: 21 }, () => drop({}).drops[0]) },
      '21 drops',
    )
    refusesAs('malformed_parameter', 'benefit_ids', drop({ benefit_ids: [] }), 'no benefit')
    refusesAs(
      'malformed_parameter',
      'benefit_ids',
      drop({ benefit_ids: Array(11).fill(UNKNOWN_UUID) }),
      '11 benefits',
    )
    refusesAs(
      'malformed_parameter',
      'channel_ids',
      { channel_ids: Array(10_001).fill('1') },
      '10,001 channels',
    )
    refusesAs(
      'malformed_parameter',
      'drops.1.id',
      { drops: [drop({}).drops[0], drop({}).drops[0]] },
      'two drops with one id',
    )
    for (const link_url of [
      'ftp://reef.example',
      'https://me:secret@reef.example/',
      'javascript:alert(1)',
      `https://reef.example/${'x'.repeat(500)}`,
      'https://reef.example/a b',
    ])
      refusesAs('malformed_parameter', 'link_url', { link_url })
    for (const claim_seconds of [-1, 15_552_001])
      refusesAs('malformed_parameter', 'claim_seconds', { claim_seconds })
    fails('malformed_parameter', 'when the id is not a UUID', async server =>
      put(server, '42', await campaignBody(server)),
    )
    fails('malformed_parameter', 'when a published campaign is to end in the past', async server => {
      const { id } = await publishedCampaign(server, { starts_at: isoMillis(nowOf(server) - 60_000) })
      return naming('ends_at', put(server, id, { ends_at: isoMillis(nowOf(server) - 1000) }))
    })
    fails('taken', 'when a drop belongs to another campaign', async server => {
      const { drops } = await newCampaign(server)
      return naming(drops[0].id, put(server, crypto.randomUUID(), await campaignBody(server, { drops })))
    })
    for (const [field, change] of [
      ['game_id', async (server: TestServer) => ({ game_id: (await newGame(server)).id })],
      ['claim_seconds', async () => ({ claim_seconds: 1 })],
      ['account_link', async () => ({ account_link: 'before_claim' })],
      ['starts_at', async () => ({ starts_at: '2026-01-01T00:00:00Z' })],
      ['drops', async () => ({ drops: [] })],
      [
        'organization_id',
        async (server: TestServer) => ({ organization_id: (await newOrganization(server)).id }),
      ],
    ] as const)
      fails('campaign_published', `when ${field} of a published campaign becomes harder`, async server => {
        const { id } = await publishedCampaign(server, { ends_at: isoMillis(nowOf(server) + 86_400_000) })
        const before = (await call(server, getCampaign, id)).body
        const answer = await naming(field, put(server, id, await change(server)))
        expect(JSON.parse(answer.headers.get('strand-error-input') ?? '')).toMatchObject({ field })
        expect((await call(server, getCampaign, id)).body).toEqual(before)
        return answer
      })
    fails('campaign_incomplete', 'when a published campaign would list no channels', async server => {
      const { id } = await publishedCampaign(server)
      return naming('channel_ids', put(server, id, { channels: 'listed' }))
    })
    fails('too_many_campaigns', 'when it would be the sixth of its game at a time', async server => {
      const { game_id, ...sixth } = await crowd(server)
      const now = nowOf(server)
      const times = { starts_at: isoMillis(now + 90_000_000), ends_at: isoMillis(now + 99_000_000) }
      await put(server, sixth.id, times)
      expect((await publish(server, sixth.id)).status).toBe(200)
      return put(server, sixth.id, { starts_at: isoMillis(now + 1000) })
    })
  },
)

/** A draft beside five published campaigns of its game. */
async function crowd(server: TestServer) {
  const { id: game_id } = await newGame(server)
  for (let count = 0; count < 5; count++) await publishedCampaign(server, { game_id })
  return newCampaign(server, { game_id })
}

describeOperation(getCampaign, isOnNew(getCampaign), ({ ok, fails }) => {
  ok('shows the phase by the clock', async server => {
    const now = nowOf(server)
    const times = {
      starts_at: isoMillis(now + 60_000),
      ends_at: isoMillis(now + 3_660_000),
      claim_seconds: 60,
    }
    const { id } = await publishedCampaign(server, times)
    const phase = async () => (await call(server, getCampaign, id)).body.data[0].phase
    expect(await phase()).toBe('upcoming')
    for (const [seconds, expected] of [
      [60, 'active'],
      [3600, 'claimable'],
      [60, 'ended'],
    ] as const) {
      await advance(server, seconds)
      expect(await phase()).toBe(expected)
    }
  })
  fails('not_found', 'when it does not exist', server =>
    naming(UNKNOWN_UUID, call(server, getCampaign, UNKNOWN_UUID)),
  )
})

describeOperation(listCampaigns, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  const list = (server: TestServer, query: object) =>
    walk(server, '/control/campaigns', { first: 100, ...query })
  ok('pages to the end by id, and filters by organization, game and state', async server => {
    const [draft, published] = [await newCampaign(server), await publishedCampaign(server)]
    const all = idsOf(await list(server, {}))
    expect(all).toEqual(all.toSorted())
    expect(await walk(server, '/control/campaigns', { first: 3 })).toEqual(await list(server, {}))
    const { channel_ids: _, ...listed } = published
    expect(await list(server, { game_id: published.game_id })).toEqual([listed])
    expect(await list(server, { game_id: draft.game_id, state: 'published' })).toEqual([])
    expect(idsOf(await list(server, { state: 'published' }))).toContain(published.id)
    expect(idsOf(await list(server, { organization_id: published.organization_id }))).toEqual(all)
    expect(await list(server, { organization_id: UNKNOWN_UUID })).toEqual([])
  })
  fails('malformed_parameter', 'when the state is another', server =>
    send(server, listCampaigns, asOperator(server, { query: { state: 'over' } })),
  )
  fails('invalid_cursor', 'when the filter changes within a walk', async server => {
    for (let count = 0; count < 2; count++) await newCampaign(server)
    const start = await send(server, listCampaigns, asOperator(server, { query: { first: 1 } }))
    const query = { after: start.body.pagination.cursor, state: 'draft' }
    return send(server, listCampaigns, asOperator(server, { query }))
  })
})

describeOperation(deleteCampaign, isOnNew(deleteCampaign), ({ ok, fails }) => {
  ok('deletes a draft, and a published one without minutes', async server => {
    for (const { id } of [await newCampaign(server), await publishedCampaign(server)]) {
      expectEmpty(await call(server, deleteCampaign, id.toUpperCase()))
      expect((await call(server, getCampaign, id)).status).toBe(404)
      expect((await server.call({ path: `/drops/campaigns/${id}` })).status).toBe(404)
    }
  })
  fails('not_found', 'the second time', async server => {
    const { id } = await newCampaign(server)
    await call(server, deleteCampaign, id)
    return naming(id, call(server, deleteCampaign, id))
  })
  fails('in_use', 'when a viewer has minutes', async server => {
    const campaign = await publishedCampaign(server)
    await newViewer(server, campaign, 1)
    return call(server, deleteCampaign, campaign.id)
  })
})

describeOperation(publishCampaign, isOnNew(publishCampaign), ({ ok, fails }) => {
  ok('publishes once, and continues a stopped campaign', async server => {
    const draft = await newCampaign(server)
    const published = await publish(server, draft.id)
    expect(published.body.data).toEqual([{ ...draft, state: 'published', phase: 'active' }])
    expect((await publish(server, draft.id)).body).toEqual(published.body)
    await stop(server, draft.id)
    expect((await publish(server, draft.id)).body).toEqual(published.body)
    expect(await audited(server, `campaign/${draft.id}`)).toHaveLength(4)
  })
  fails('not_found', 'when it does not exist', server => publish(server, UNKNOWN_UUID))
  fails('campaign_incomplete', 'listing everything that is missing', async server => {
    const { id } = await newCampaign(server, { drops: [], channels: 'listed', account_link: 'before_claim' })
    const answer = await publish(server, id)
    for (const name of ['drops', 'channel_ids', 'link_client_id', 'link_url'])
      expect(answer.body.message).toContain(`"${name}"`)
    return answer
  })
  fails('malformed_parameter', 'when the end has passed', async server => {
    const { id } = await newCampaign(server)
    await advance(server, 86_400)
    return naming('ends_at', publish(server, id))
  })
  fails('too_many_campaigns', 'when five of the game run at the time', async server =>
    publish(server, (await crowd(server)).id),
  )
})

describeOperation(stopCampaign, isOnNew(stopCampaign, publishedCampaign), ({ ok, fails }) => {
  ok('starts the time to claim, once', async server => {
    const campaign = await publishedCampaign(server, { claim_seconds: 60 })
    const stopped = await stop(server, campaign.id)
    const [{ stopped_at }] = stopped.body.data
    expect(stopped.body.data).toEqual([{ ...campaign, state: 'stopped', phase: 'claimable', stopped_at }])
    await advance(server, 30)
    expect((await stop(server, campaign.id)).body).toEqual(stopped.body)
    await advance(server, 30)
    expect((await stop(server, campaign.id)).body.data[0].phase).toBe('ended')
  })
  fails('not_found', 'when it does not exist', server => stop(server, UNKNOWN_UUID))
  fails('campaign_draft', 'when it is a draft', async server => stop(server, (await newCampaign(server)).id))
})

describeOperation(
  explainCampaign,
  {
    valid: async server => {
      const { id } = await newCampaign(server)
      const { viewer, broadcaster } = server.world
      return asOperator(server, {
        path: at(explainCampaign, id),
        query: { user_id: viewer.id, channel_id: broadcaster.id },
      })
    },
  },
  ({ ok, fails }) => {
    ok('has a row for every rule, with what was seen', async server => {
      const campaign = await publishedCampaign(server)
      const [channel, viewer] = [
        await newLiveChannel(server, campaign.game_id),
        await newViewer(server, campaign, 29),
      ]
      const explain = async () =>
        (await call(server, explainCampaign, campaign.id, { user_id: viewer.id, channel_id: channel.id }))
          .body.data
      const holding = (rows: { rule: string; holds: boolean }[]) =>
        rows.filter(row => row.holds).map(row => row.rule)
      const before = await explain()
      expect(holding(before)).toEqual([
        'channel_live',
        'plays_the_game',
        'campaign_active',
        'channel_admitted',
        'not_the_broadcaster',
        'network_admitted',
        'claim_window_open',
        'account_linked',
      ])
      expect(before.find((row: { rule: string }) => row.rule === 'minutes_reached').seen).toContain(
        '29 minutes',
      )
      await server.control('PATCH', `/clients/${server.world.client.id}`, { counts_watching: true })
      const opened = await server.call({
        method: 'POST',
        path: '/playback/session',
        body: { login: channel.login },
        token: viewer.token,
      })
      const [{ session }] = opened.body.data
      for (const seconds of [1, 60]) {
        await advance(server, seconds)
        await server.call({ method: 'POST', path: '/playback/heartbeat', body: { session } })
      }
      expect(holding(await explain())).toHaveLength(12)
    })
    fails('not_found', 'when the campaign does not exist', server =>
      call(server, explainCampaign, UNKNOWN_UUID, {
        user_id: server.world.viewer.id,
        channel_id: server.world.viewer.id,
      }),
    )
    for (const name of ['user_id', 'channel_id'])
      fails('not_found', `when the user of ${name} does not exist`, async server => {
        const { id } = server.world.viewer
        return naming(
          '999',
          call(server, explainCampaign, (await newCampaign(server)).id, {
            user_id: id,
            channel_id: id,
            [name]: '999',
          }),
        )
      })
  },
)

describeOperation(getCampaignReport, isOnNew(getCampaignReport), ({ ok, fails }) => {
  ok('counts viewers, minutes and claims, as JSON and as CSV', async server => {
    const campaign = await publishedCampaign(server)
    const [drop] = campaign.drops
    const [reached] = [await newViewer(server, campaign, 30), await newViewer(server, campaign, 12)]
    const claimed = await server.call({
      method: 'POST',
      path: '/drops/claims',
      body: { drop_id: drop.id },
      token: reached.token,
    })
    expect(claimed.status).toBe(200)
    const { body } = await call(server, getCampaignReport, campaign.id)
    const counts = { drop_id: drop.id, name: drop.name, required_minutes: 30, reached: 1, claimed: 1 }
    expect(body.data).toEqual([
      { campaign_id: campaign.id, viewers: 2, minutes: 42, linked: 0, fulfilled: 0, drops: [counts] },
    ])
    const csv = await call(server, getCampaignReport, campaign.id, { format: 'csv' })
    expect(csv.headers.get('content-type')).toBe('text/csv')
    expect(csv.text).toBe(
      `drop_id,name,required_minutes,reached,claimed\r\n${drop.id},Half an hour,30,1,1\r\n`,
    )
  })
  fails('not_found', 'when the campaign does not exist', server =>
    call(server, getCampaignReport, UNKNOWN_UUID),
  )
  fails('malformed_parameter', 'when the format is another', async server =>
    call(server, getCampaignReport, (await newCampaign(server)).id, { format: 'xml' }),
  )
})

const add = (server: TestServer, campaign: string, user: string, body: object) =>
  send(
    server,
    addWatchedMinutes,
    asOperator(server, { path: at(addWatchedMinutes, campaign).replace('{user_id}', user), body }),
  )

describeOperation(
  addWatchedMinutes,
  {
    valid: async server => {
      const path = at(addWatchedMinutes, (await publishedCampaign(server)).id)
      return asOperator(server, { path: path.replace('{user_id}', server.world.viewer.id), body: { add: 5 } })
    },
  },
  ({ ok, fails }) => {
    ok('adds, and records it', async server => {
      const [{ id }, { id: user_id }] = [await publishedCampaign(server), await newUser(server)]
      for (const minutes of [5, 10])
        expect((await add(server, id, user_id, { add: 5 })).body.data).toEqual([
          { campaign_id: id, user_id, minutes },
        ])
      expect(await audited(server, `campaign/${id}/viewer/${user_id}`)).toHaveLength(2)
    })
    for (const wrong of [0, -1, 1.5, '5', 10_081])
      fails('malformed_parameter', `when add is ${JSON.stringify(wrong)}`, async server =>
        add(server, (await publishedCampaign(server)).id, server.world.viewer.id, { add: wrong }),
      )
    fails('not_found', 'when the campaign does not exist', server =>
      add(server, UNKNOWN_UUID, server.world.viewer.id, { add: 1 }),
    )
    fails('not_found', 'when the user does not exist', async server =>
      add(server, (await publishedCampaign(server)).id, '999', { add: 1 }),
    )
    fails('user_suspended', 'when the user is suspended', async server => {
      const { id } = await newUser(server)
      await server.control('PUT', `/users/${id}/suspension`, {})
      return add(server, (await publishedCampaign(server)).id, id, { add: 1 })
    })
    fails('campaign_draft', 'when it is a draft', async server =>
      add(server, (await newCampaign(server)).id, server.world.viewer.id, { add: 1 }),
    )
  },
)
