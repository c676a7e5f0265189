/** The campaign of the demo: a viewer of any channel of its game earns a drop within two minutes. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createClient } from '../../src/client/index.ts'
import { type RunningStrand, startStrand } from '../../src/testing/start-strand.ts'

let strand: RunningStrand
beforeAll(async () => {
  strand = await startStrand({ streams: 500, clock: '2026-03-01T12:00:17Z' })
})
afterAll(() => strand.stop())

test('is active, with benefits of its organization for the first game', async () => {
  const { world, url } = strand
  const { drops } = createClient({ baseUrl: url })
  const { data } = await drops.getDropsCampaigns({ game_id: world.game.id })
  expect(data).toMatchObject([
    {
      id: world.campaign.id,
      phase: 'active',
      account_link: 'none',
      channels: 'all',
      drops: [
        { id: world.campaign.drops[0]?.id, required_minutes: 2, benefits: [{ name: 'Tide lamp' }] },
        { id: world.campaign.drops[1]?.id, required_minutes: 30, benefits: [{ id: world.benefit.id }] },
      ],
    },
  ])
})

test('a viewer of a generated channel earns, and its invented viewers stay as many', async () => {
  const { world, url, clock } = strand
  const { helix, drops, playback, control } = createClient({
    baseUrl: url,
    token: world.viewer.token,
    operatorToken: world.operator_token,
  })
  await control.patchClient({ client_id: world.client.id, counts_watching: true })
  // Not the first one, which is the broadcaster of the demo.
  const channels = (await helix.getStreams({ game_id: [world.game.id], first: 100 })).data
  expect(channels.length).toBeGreaterThan(20)
  const channel = channels.at(-1)
  const { session, earns_drops } = await playback.createPlaybackSession.one(
    { login: channel?.user_login ?? '' },
    { token: world.viewer.token },
  )
  expect(earns_drops).toBe(true)
  const beat = () => playback.sendHeartbeat({ session })
  expect(await beat()).toMatchObject({ reason: 'too_early' })
  for (let seconds = 30; seconds < 120; seconds += 30) {
    await clock.advance(30)
    await beat()
  }
  const [campaign_id, drop_id] = [world.campaign.id, world.campaign.drops[0]?.id ?? '']
  await clock.advance(30)
  const reached = await beat()
  expect(reached?.data).toEqual([{ campaign_id, minutes: 2, claimable: [drop_id] }])
  expect(reached?.reason).toBeUndefined()
  const claim = await drops.claimDrop.one({ drop_id })
  expect(claim).toMatchObject({ campaign_id, user_id: world.viewer.id })
  expect(claim.entitlement_ids).toHaveLength(1)
  const [after] = (await helix.getStreams({ user_id: [channel?.user_id ?? ''] })).data
  expect(after?.viewer_count).toBe(channel?.viewer_count)
})
