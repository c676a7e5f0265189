import { expect } from 'bun:test'
import { getDropsProgress } from '../../../src/contract/drops/get-drops-progress.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { advance, newViewer, publishedCampaign } from './campaigns.ts'

const read = (server: TestServer, token: string) => send(server, getDropsProgress, { token })

describeOperation(
  getDropsProgress,
  { valid: async server => ({ token: (await newViewer(server)).token }) },
  ({ ok }) => {
    ok('has the campaigns in which the user has minutes, and the state of each drop', async server => {
      const one = await publishedCampaign(server, { claim_seconds: 60 })
      const [drop] = one.drops
      const drops = [drop, { ...drop, id: crypto.randomUUID(), required_minutes: 90 }]
      await server.control('PUT', `/campaigns/${one.id}`, { drops })
      const viewer = await newViewer(server, one, 30)
      expect((await read(server, (await newViewer(server)).token)).body).toEqual({ data: [] })
      const states = async () => {
        const [progress] = (await read(server, viewer.token)).body.data
        expect(progress).toMatchObject({ campaign_id: one.id, minutes: 30, linked: false })
        return progress.drops.map((each: { state: string; minutes_left: number }) => [
          each.state,
          each.minutes_left,
        ])
      }
      expect(await states()).toEqual([
        ['claimable', 0],
        ['earning', 60],
      ])
      await server.control('POST', `/campaigns/${one.id}/stop`)
      expect(await states()).toEqual([
        ['claimable', 0],
        ['missed', 60],
      ])
      await server.call({
        method: 'POST',
        path: '/drops/claims',
        body: { drop_id: drop.id },
        token: viewer.token,
      })
      await advance(server, 60)
      expect(await states()).toEqual([
        ['claimed', 0],
        ['missed', 60],
      ])
    })
  },
)
