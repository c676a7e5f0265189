import { expect } from 'bun:test'
import { claimDrop } from '../../../src/contract/drops/claim-drop.ts'
import { describeOperation, retryWhileUnavailable, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { naming, UNKNOWN_UUID, UUID, walk } from '../control/operator.ts'
import { newClient } from '../helix/subscriptions.ts'
import { advance, newBenefit, newCampaign, newViewer, publishedCampaign } from './campaigns.ts'

const claim = (server: TestServer, drop_id: string, token: string) =>
  send(server, claimDrop, { body: { drop_id }, token })

describeOperation(
  claimDrop,
  {
    valid: async server => {
      const campaign = await publishedCampaign(server)
      return { body: { drop_id: campaign.drops[0].id }, token: (await newViewer(server, campaign, 30)).token }
    },
  },
  ({ ok, fails }) => {
    ok('grants an entitlement for each benefit, and a repeat has the same answer', async server => {
      const benefit_ids = [(await newBenefit(server)).id, (await newBenefit(server)).id]
      const drops = [{ id: crypto.randomUUID(), name: 'Both', required_minutes: 2, benefit_ids }]
      const campaign = await publishedCampaign(server, { drops })
      const viewer = await newViewer(server, campaign, 2)
      const first = await claim(server, campaign.drops[0].id.toUpperCase(), viewer.token)
      const [claimed] = first.body.data
      expect(claimed).toEqual({
        drop_id: campaign.drops[0].id,
        campaign_id: campaign.id,
        user_id: viewer.id,
        claimed_at: expect.any(String),
        entitlement_ids: [expect.stringMatching(UUID), expect.stringMatching(UUID)],
      })
      await advance(server, 1)
      expect((await claim(server, campaign.drops[0].id, viewer.token)).body).toEqual(first.body)
      const entitlements = await walk(server, '/control/entitlements', { user_id: viewer.id })
      expect(
        entitlements.map(each => [each.benefit_id, each.fulfillment_status, each.timestamp]).sort(),
      ).toEqual(benefit_ids.sort().map(id => [id, 'CLAIMED', claimed.claimed_at]))
      const [audited] = await walk(server, '/control/audit', { subject: `drop/${campaign.drops[0].id}` })
      expect(audited).toMatchObject({
        operation: 'ClaimDrop',
        actor: `client/${server.world.client.id}/user/${viewer.id}`,
        after: { source: 'viewer', user_id: viewer.id },
      })
    })

    ok('64 at once are one claim, with equal answers', async server => {
      const campaign = await publishedCampaign(server)
      const viewer = await newViewer(server, campaign, 30)
      const answers = await Promise.all(
        Array.from({ length: 64 }, () =>
          retryWhileUnavailable(() => claim(server, campaign.drops[0].id, viewer.token)),
        ),
      )
      expect(new Set(answers.map(answer => `${answer.status} ${answer.text}`)).size).toBe(1)
      expect(answers[0]?.status).toBe(200)
      expect(await walk(server, '/control/entitlements', { user_id: viewer.id })).toHaveLength(1)
    })

    ok('an event has the id of the campaign', async server => {
      const campaign = await publishedCampaign(server)
      const viewer = await newViewer(server, campaign, 30)
      const subscription = crypto.randomUUID()
      const { organization } = server.world
      const condition = JSON.stringify({ organization_id: organization.id, campaign_id: campaign.id })
      await server.execute(
        `insert into event_subscriptions (id, client_id, owner, type, version, condition, topic, status, cost, method,
           callback, target, identity, created_at)
         values ('${subscription}', '${server.world.client.id}', '', 'drop.entitlement.grant', '1', '${condition}',
           'drop.entitlement.grant/1/${organization.id}', 'enabled', 1, 'webhook', 'https://reef.example/', 'none',
           '${subscription}', '2026-03-01T12:00:00.000Z')`,
      )
      const { body } = await claim(server, campaign.drops[0].id, viewer.token)
      const events = await server.execute(
        `select e.body from events e join event_deliveries d on d.event_seq = e.seq
         where d.subscription_id = '${subscription}'`,
      )
      expect(events.map(({ body: text }: { body: string }) => JSON.parse(text))).toMatchObject([
        { campaign_id: campaign.id, user_id: viewer.id, entitlement_id: body.data[0].entitlement_ids[0] },
      ])
    })

    fails('not_found', 'when there is no such drop', async server =>
      naming(UNKNOWN_UUID, claim(server, UNKNOWN_UUID, (await newViewer(server)).token)),
    )
    fails('not_found', 'when the campaign is a draft', async server =>
      claim(server, (await newCampaign(server)).drops[0].id, (await newViewer(server)).token),
    )
    fails('drop_not_reached', 'with the minutes', async server => {
      const campaign = await publishedCampaign(server)
      const answer = await claim(server, campaign.drops[0].id, (await newViewer(server, campaign, 23)).token)
      expect(answer.body.message).toContain('23 of 30 minutes')
      return answer
    })
    fails('claim_closed', 'after the time to claim', async server => {
      const campaign = await publishedCampaign(server, { claim_seconds: 60 })
      const viewer = await newViewer(server, campaign, 30)
      await server.control('POST', `/campaigns/${campaign.id}/stop`)
      await advance(server, 60)
      return claim(server, campaign.drops[0].id, viewer.token)
    })
    fails('account_not_linked', 'when the viewer has to link an account first', async server => {
      const link_url = 'https://reef.example/link'
      const { id } = await newClient(server)
      const campaign = await publishedCampaign(server, {
        account_link: 'before_claim',
        link_client_id: id,
        link_url,
      })
      const answer = await claim(server, campaign.drops[0].id, (await newViewer(server, campaign, 30)).token)
      expect(answer.body.message).toContain(link_url)
      return answer
    })
    for (const drop_id of [7, null, 'x', ''])
      fails('malformed_parameter', `when the drop is ${JSON.stringify(drop_id)}`, async server =>
        send(server, claimDrop, { body: { drop_id }, token: (await newViewer(server)).token }),
      )
  },
)
