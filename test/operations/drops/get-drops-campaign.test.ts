import { expect } from 'bun:test'
import { getDropsCampaign } from '../../../src/contract/drops/get-drops-campaign.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { naming, UNKNOWN_UUID } from '../control/operator.ts'
import { advance, newCampaign, newViewer, publishedCampaign } from './campaigns.ts'

const get = (server: TestServer, id: string, token?: string) =>
  send(server, getDropsCampaign, { path: `/drops/campaigns/${id}`, ...(token && { token }) })

describeOperation(
  getDropsCampaign,
  { valid: async server => ({ path: `/drops/campaigns/${(await publishedCampaign(server)).id}` }) },
  ({ ok, fails }) => {
    ok('is what the list shows, also when it is over', async server => {
      const campaign = await publishedCampaign(server, { claim_seconds: 0 })
      const viewer = await newViewer(server, campaign, 1)
      const listed = await server.call({
        path: '/drops/campaigns',
        query: { game_id: campaign.game_id },
        token: viewer.token,
      })
      const shown = await get(server, campaign.id.toUpperCase(), viewer.token)
      expect(shown.body.data).toEqual(listed.body.data)
      await advance(server, 86_400)
      expect((await get(server, campaign.id)).body.data[0].phase).toBe('ended')
    })
    fails('not_found', 'when it does not exist', server => naming(UNKNOWN_UUID, get(server, UNKNOWN_UUID)))
    fails('not_found', 'when it is a draft', async server => get(server, (await newCampaign(server)).id))
  },
)
