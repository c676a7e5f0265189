/** Drops that are earned by watching, as a game studio tests them: with simulated viewers and a clock that is moved. */
import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { createClient, createEventReceiver, type ReceivedEvent } from '../../src/client/index.ts'
import { checkScenario } from '../../src/demo/read-scenario.ts'
import { type RunningStrand, type Scenario, startStrand } from '../../src/testing/start-strand.ts'

const CLOCK = '2026-03-01T12:00:00Z'
const SECRET = 'only for these tests'
const received: ReceivedEvent[] = []
const receiver = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: createEventReceiver({
    secrets: SECRET,
    onEvent: each => {
      received.push(each)
    },
  }),
})
afterAll(() => receiver.stop(true))

const running: RunningStrand[] = []
afterEach(async () => {
  for (const strand of running.splice(0)) await strand.stop()
})
async function start<const S extends Scenario>(scenario: S, clock: string | undefined = CLOCK) {
  const strand = await startStrand({ streams: 1, scenario: scenario as Scenario, ...(clock && { clock }) })
  running.push(strand)
  return strand
}

const until = async (isMet: () => boolean | Promise<boolean>) => {
  while (!(await isMet())) await Bun.sleep(20)
}

/** What a viewer of the scenario sees. */
function viewerOf(strand: RunningStrand, name: string) {
  const token = strand.world.scenario[name].token as string
  const { drops } = createClient({ baseUrl: strand.url, token })
  return {
    drops,
    progress: async (campaign: string) => {
      const { data } = await drops.getDropsProgress()
      const found = data.find(({ campaign_id }) => campaign_id === strand.world.scenario[campaign].id)
      return [found?.minutes ?? 0, ...(found?.drops ?? []).map(({ state }) => state)]
    },
  }
}

const HOUR = {
  users: { star: { stream: {} }, late: {}, fan: {} },
  campaigns: { hour: { drops: [{ required_minutes: 60 }] } },
} as const satisfies Scenario

test('a studio: watch, claim, the event, fulfil', async () => {
  const strand = await startStrand({
    streams: 2,
    clock: CLOCK,
    scenario: 'docs/scenarios/campaigns.json',
  })
  running.push(strand)
  const { scenario } = strand.world
  const { launch, fan, fulfilment, studio } = scenario
  const studioApi = createClient({ baseUrl: strand.url, token: fulfilment.app_token }).helix
  await studioApi.createEventSubSubscription({
    type: 'drop.entitlement.grant',
    version: '1',
    condition: { organization_id: studio.id, campaign_id: launch.id },
    transport: { method: 'webhook', callback: `${receiver.url}events`, secret: SECRET },
    is_batching_enabled: true,
  })
  const isEnabled = async () =>
    (await studioApi.getEventSubSubscriptions({ status: 'enabled' })).data.length === 1
  await until(isEnabled)

  const { drops, progress } = viewerOf(strand, 'fan')
  const claim = (place: number) => drops.claimDrop.one({ drop_id: launch.drops[place].id })
  await strand.clock.advance(3540)
  expect(await progress('launch')).toEqual([59, 'claimable', 'earning'])
  await expect(claim(1)).rejects.toMatchObject({ status: 409, code: 'drop_not_reached' })
  await strand.clock.advance(60)
  expect(await progress('launch')).toEqual([60, 'claimable', 'claimable'])
  expect(await viewerOf(strand, 'latecomer').progress('launch')).toEqual([25, 'earning', 'earning'])

  const claimed = await claim(1)
  expect(claimed).toMatchObject({ user_id: fan.id, claimed_at: '2026-03-01T13:00:00.000Z' })
  expect(await claim(1)).toEqual(claimed)
  await until(() => received.length === 2)
  for (const { event } of received)
    expect(event).toMatchObject({ campaign_id: launch.id, user_id: fan.id, organization_id: studio.id })
  const ids = claimed.entitlement_ids.toSorted()
  expect(received.map(({ event }) => (event as { entitlement_id: string }).entitlement_id).sort()).toEqual(
    ids,
  )

  const listed = await studioApi.getDropsEntitlements({ user_id: fan.id, fulfillment_status: 'CLAIMED' })
  expect(listed.data.map(({ id }) => id).sort()).toEqual(ids)
  const fulfilled = await studioApi.updateDropsEntitlements({
    entitlement_ids: ids,
    fulfillment_status: 'FULFILLED',
  })
  expect(fulfilled.data).toEqual([{ status: 'SUCCESS', ids: expect.arrayContaining(ids) }])
  const { control } = createClient({
    baseUrl: strand.url,
    operatorToken: strand.world.operator_token,
  })
  expect(await control.getCampaignReport.one({ campaign_id: launch.id })).toMatchObject({
    viewers: 2,
    minutes: 85,
    fulfilled: 2,
  })
})

test('viewers start and stop, and are named as in a scenario', async () => {
  const strand = await start(HOUR)
  const { progress } = viewerOf(strand, 'fan')
  const watching = await strand.viewers.watch('fan', 'star')
  expect(watching).toEqual({
    user_id: strand.world.scenario.fan.id,
    channel_id: strand.world.scenario.star.id,
    since: '2026-03-01T12:00:00.000Z',
    until: null,
    reason: 'too_early',
  })
  await strand.clock.set('2026-03-01T12:10:00Z')
  await strand.viewers.stop('fan')
  await strand.clock.advance(3600)
  expect([await strand.viewers.list(), await progress('hour')]).toEqual([[], [10, 'earning']])
  await strand.viewers.watch('viewer', 'broadcaster', { forSeconds: 600 })
  await strand.viewers.watch(strand.world.editor.id, 'late')
  expect((await strand.viewers.list()).map(({ reason }) => reason)).toEqual(['too_early', 'offline'])
  await expect(strand.viewers.watch('stranger', 'star')).rejects.toThrow(
    'viewers: unknown user "stranger"; must be',
  )
  await expect(strand.viewers.watch('fan', 'hour')).rejects.toThrow('viewers: unknown user "hour"')
  await expect(strand.viewers.watch('fan', 'star', { forSeconds: 0 })).rejects.toThrow('for_seconds')
})

test('events and the bounds of a campaign count at their times, whatever the steps', async () => {
  const strand = await start({
    ...HOUR,
    campaigns: {
      hour: { starts_seconds_ago: -1200, lasts_seconds: 3600, drops: [{ required_minutes: 20 }] },
    },
    watching: [{ user: 'fan', channel: 'late' }],
    events: [
      { type: 'stream.online', user: 'late', after_seconds: 600 },
      { type: 'stream.offline', user: 'late', after_seconds: 2400 },
      { type: 'stream.online', user: 'late', after_seconds: 4200 },
    ],
  })
  // `late` plays the game of the demo. Live and active from 12:20 to 12:40, and from 13:10 to 13:20.
  const { progress } = viewerOf(strand, 'fan')
  await strand.clock.advance(2400)
  expect(await progress('hour')).toEqual([20, 'claimable'])
  await strand.reset()
  expect(await progress('hour')).toEqual([0])
  for (let minute = 0; minute < 40; minute++) await strand.clock.advance(60)
  expect(await progress('hour')).toEqual([20, 'claimable'])
  await strand.clock.advance(86_400 - 2400)
  expect(await progress('hour')).toEqual([30, 'claimable'])
})

test('a reset and a snapshot know who watches', async () => {
  const strand = await start({ ...HOUR, watching: [{ user: 'fan', channel: 'star' }] })
  const { progress } = viewerOf(strand, 'fan')
  await strand.clock.advance(1800)
  await strand.snapshot()
  for (let turn = 0; turn < 2; turn++) {
    await strand.clock.advance(1740)
    expect(await progress('hour')).toEqual([59, 'earning'])
    await strand.clock.advance(60)
    expect(await progress('hour')).toEqual([60, 'claimable'])
    await strand.viewers.stop('fan')
    await strand.reset()
  }
  expect(await progress('hour')).toEqual([30, 'earning'])
  await strand.reset({ to: 'start' })
  await strand.clock.advance(3540)
  expect(await progress('hour')).toEqual([59, 'earning'])
})

test('with the system clock too, and viewers send heartbeats while it runs', async () => {
  const strand = await startStrand({ streams: 1, scenario: HOUR })
  running.push(strand)
  const { progress } = viewerOf(strand, 'fan')
  await strand.viewers.watch('fan', 'star')
  await strand.clock.advance(3600)
  expect(await progress('hour')).toEqual([60, 'claimable'])
})

describe('a mistake is named by its place', () => {
  const launch = { drops: [{ required_minutes: 30 }] }
  const campaigns = (changes: object) => ({ campaigns: { launch: { ...launch, ...changes } } })
  test.each([
    [campaigns({ drops: [] }), '$.campaigns.launch.drops'],
    [campaigns({ drops: [{ required_minutes: 0 }] }), '$.campaigns.launch.drops[0].required_minutes'],
    [
      campaigns({ game: 'Solitaire' }),
      '$.campaigns.launch.game is "Solitaire", but must be a name under $.games',
    ],
    [campaigns({ organization: 'stranger' }), '$.campaigns.launch.organization is "stranger"'],
    [campaigns({ link_client: 'stranger' }), '$.campaigns.launch.link_client is "stranger"'],
    [campaigns({ channels: ['stranger'] }), '$.campaigns.launch.channels[0] is "stranger"'],
    [
      campaigns({ drops: [{ required_minutes: 1, benefits: ['gold'] }] }),
      '$.campaigns.launch.drops[0].benefits[0] is "gold"',
    ],
    [campaigns({ state: 'draft' }), 'state is not a field of a scenario; the fields are'],
    [{ ...campaigns({}), users: { launch: {} } }, '$.campaigns.launch has the same name as $.users.launch'],
    [{ watching: [{ user: 'stranger', channel: 'broadcaster' }] }, '$.watching[0].user is "stranger"'],
    [{ watching: [{ user: 'viewer', channel: 'stranger' }] }, '$.watching[0].channel is "stranger"'],
    [{ watching: [{ user: 'viewer' }] }, '$.watching[0]'],
    [
      {
        watching: [
          { user: 'viewer', channel: 'broadcaster' },
          { user: 'viewer', channel: 'editor' },
        ],
      },
      '$.watching[1].user watches already, in $.watching[0]',
    ],
  ])('%j', (scenario, message) => {
    expect(() => checkScenario(scenario)).toThrow(message)
  })

  test.each([
    [
      campaigns({ lasts_seconds: 60 }),
      '$.campaigns.launch.drops.0.required_minutes was malformed: the value must be at most the minutes',
    ],
    [campaigns({ account_link: 'before_claim' }), '$.campaigns.launch needs link_client, link_url'],
    [
      campaigns({ organization: 'other_organization' }),
      '$.campaigns.launch needs a game of the organization',
    ],
    [
      campaigns({ game: 'Kite Racers' }),
      '$.campaigns.launch.game is "Kite Racers", which belongs to another',
    ],
    [
      campaigns({ game: 'Emberline' }),
      '$.campaigns.launch.drops[0].benefits has "benefit", which belongs to another game',
    ],
    [
      campaigns({ link_client: 'other_client' }),
      '$.campaigns.launch.link_client is "other_client", which belongs',
    ],
    [
      {
        campaigns: Object.fromEntries(
          Array.from({ length: 5 }, (_, n) => [`launch_${n}`, { drops: [{ required_minutes: 1 }] }]),
        ),
      },
      '$.campaigns.launch_4 is one of more than 5 campaigns of a game',
    ],
    [
      {
        campaigns: {
          one: { id: '11111111-2222-4333-8444-555555555555', ...launch },
          other: { id: '11111111-2222-4333-8444-555555555555', ...launch },
        },
      },
      '$.campaigns.other.id is "11111111-2222-4333-8444-555555555555", which is taken',
    ],
    [
      {
        campaigns: {
          one: { drops: [{ id: '11111111-2222-4333-8444-555555555555', required_minutes: 1 }] },
          other: { drops: [{ id: '11111111-2222-4333-8444-555555555555', required_minutes: 1 }] },
        },
      },
      '$.campaigns.other.drops.id is "11111111-2222-4333-8444-555555555555", which is taken',
    ],
  ])('%j, when the world is made', async (scenario, message) => {
    await expect(startStrand({ streams: 1, scenario: scenario as Scenario })).rejects.toThrow(message)
  })
})
