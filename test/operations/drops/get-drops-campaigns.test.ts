import { expect } from 'bun:test'
import { getDropsCampaigns } from '../../../src/contract/drops/get-drops-campaigns.ts'
import { isoMillis } from '../../../src/kit/time/clock.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { idsOf, newUser, nowOf, tokenOf } from '../control/operator.ts'
import { newCampaign, newGame, newViewer, publishedCampaign } from './campaigns.ts'

const list = (server: TestServer, query: object, token?: string) =>
  send(server, getDropsCampaigns, { query: { ...query }, ...(token && { token }) })

describeOperation(getDropsCampaigns, { valid: () => ({}) }, ({ ok, fails }) => {
  ok('lists campaigns that are not over, with names; drafts are not shown', async server => {
    const campaign = await publishedCampaign(server)
    const { game_id, drops } = campaign
    await newCampaign(server, { game_id })
    const { body } = await list(server, { game_id })
    const [benefit] = await server.control('GET', `/benefits/${drops[0].benefit_ids[0]}`)
    const [game] = await server.control('GET', `/games/${game_id}`)
    expect(body).toEqual({
      data: [
        {
          id: campaign.id,
          name: campaign.name,
          game_id,
          game_name: game.name,
          phase: 'active',
          starts_at: campaign.starts_at,
          ends_at: campaign.ends_at,
          claim_ends_at: isoMillis(Date.parse(campaign.ends_at) + 86_400_000),
          account_link: 'after_claim',
          link_url: null,
          channels: 'all',
          drops: [
            {
              id: drops[0].id,
              name: drops[0].name,
              required_minutes: 30,
              benefits: [{ id: benefit.id, name: benefit.name }],
            },
          ],
        },
      ],
      pagination: {},
    })
  })

  ok('filters by phase and channel, page by page in the order of ids', async server => {
    const [now, game, channel] = [nowOf(server), await newGame(server), await newUser(server)]
    const times = (from: number, to: number) => ({
      game_id: game.id,
      starts_at: isoMillis(now + from * 1000),
      ends_at: isoMillis(now + to * 1000),
    })
    const listed = { channels: 'listed', channel_ids: [channel.id] }
    const active = [
      await publishedCampaign(server, times(-1, 7200)),
      await publishedCampaign(server, { ...times(-1, 7200), ...listed }),
    ]
    const upcoming = await publishedCampaign(server, times(3600, 9000))
    const stopped = await publishedCampaign(server, { ...times(-1, 7200), claim_seconds: 0 })
    await server.control('POST', `/campaigns/${stopped.id}/stop`)
    const ids = async (query: object) => idsOf((await list(server, { game_id: game.id, ...query })).body.data)
    const open = idsOf([...active, upcoming]).sort()
    expect(await ids({})).toEqual(open)
    expect(await ids({ phase: 'active' })).toEqual(idsOf(active).sort())
    expect(await ids({ phase: 'upcoming' })).toEqual([upcoming.id])
    expect(await ids({ phase: 'ended' })).toEqual([stopped.id])
    expect(await ids({ channel_id: channel.id, phase: 'active' })).toEqual(idsOf(active).sort())
    expect(await ids({ channel_id: '999', phase: 'active' })).toEqual([active[0].id])
    const walked: string[] = []
    for (let after: string | undefined; ; ) {
      const { body } = await list(server, { game_id: game.id, first: 1, ...(after && { after }) })
      walked.push(...idsOf(body.data))
      after = body.pagination.cursor
      if (after === undefined) break
    }
    expect(walked).toEqual(open)
  })

  ok('a user token adds the progress of the user, if it may read it', async server => {
    const campaign = await publishedCampaign(server)
    const { game_id } = campaign
    const viewer = await newViewer(server, campaign, 23)
    const { body } = await list(server, { game_id }, viewer.token)
    expect(body.data[0].progress).toEqual({
      campaign_id: campaign.id,
      minutes: 23,
      linked: false,
      drops: [{ drop_id: campaign.drops[0].id, state: 'earning', minutes_left: 7 }],
    })
    const other = await tokenOf(server, (await newUser(server)).id)
    expect((await list(server, { game_id }, other)).body.data[0].progress.minutes).toBe(0)
    const bare = { client_id: server.world.client.id, user_id: viewer.id, scopes: [] }
    const [{ access_token }] = await server.control('POST', '/tokens', bare)
    expect((await list(server, { game_id }, access_token)).body.data[0].progress).toBeUndefined()
  })

  fails('malformed_parameter', 'when the phase is another', server => list(server, { phase: 'over' }))
  fails('invalid_cursor', 'when the filter changes within a walk', async server => {
    const { game_id } = await publishedCampaign(server)
    await publishedCampaign(server, { game_id })
    const { body } = await list(server, { game_id, first: 1 })
    return list(server, { after: body.pagination.cursor })
  })
})
