/** Events that a scenario plans happen when the clock of the demo has reached them. */
import { afterAll, expect, test } from 'bun:test'
import { createEventReceiver, type ReceivedEvent } from '../../src/client/index.ts'
import { checkScenario } from '../../src/demo/read-scenario.ts'
import { ScenarioEvents } from '../../src/demo/scenario-events.ts'
import { MovableClock } from '../../src/kit/time/clock.ts'
import { DemoControls } from '../../src/operations/demo/demo-controls.ts'
import type { Services } from '../../src/operations/implement.ts'
import { Unavailable } from '../../src/store/errors.ts'
import { type Scenario, startStrand } from '../../src/testing/start-strand.ts'

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

const until = async (isMet: () => boolean | Promise<boolean>) => {
  while (!(await isMet())) await Bun.sleep(20)
}
const typesSeen = () => received.map(({ type }) => type)

test('the sample: each change makes its event, with the time that was planned', async () => {
  await using strand = await startStrand({
    streams: 2,
    clock: '2026-03-01T12:00:00Z',
    scenario: 'docs/scenarios/events.json',
  })
  const { night_show, fan } = strand.world.scenario ?? {}
  const broadcaster_user_id = night_show?.id
  const ask = async (path: string, body?: object) => {
    const response = await fetch(strand.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { Authorization: `Bearer ${strand.client.app_token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return (await response.json()) as { data: unknown[] }
  }
  const subscribe = async (type: string, version: string, condition: object, more: object = {}) => {
    const transport = { method: 'webhook', callback: `${receiver.url}events`, secret: SECRET }
    const body = { type, version, condition, transport, ...more }
    expect((await ask('/helix/eventsub/subscriptions', body)).data).toHaveLength(1)
  }
  await subscribe('stream.online', '1', { broadcaster_user_id })
  await subscribe('stream.offline', '1', { broadcaster_user_id })
  await subscribe('channel.update', '2', { broadcaster_user_id })
  await subscribe('channel.follow', '2', { broadcaster_user_id, moderator_user_id: broadcaster_user_id })
  const organization_id = strand.world.organization.id
  await subscribe('drop.entitlement.grant', '1', { organization_id }, { is_batching_enabled: true })
  await until(async () => (await ask('/helix/eventsub/subscriptions?status=enabled')).data.length === 5)
  expect(received).toEqual([])

  await strand.clock.advance(59)
  await until(() => received.length === 1)
  expect(received[0]).toMatchObject({ type: 'stream.offline', event: { broadcaster_user_id } })
  await strand.clock.advance(3000)
  await until(() => received.length === 5)
  expect(typesSeen().toSorted()).toEqual([
    'channel.follow',
    'channel.update',
    'drop.entitlement.grant',
    'stream.offline',
    'stream.online',
  ])
  const eventOf = (type: string) => received.find(each => each.type === type)?.event
  expect(eventOf('stream.online')).toMatchObject({ started_at: '2026-03-01T12:01:00Z' })
  expect(eventOf('channel.update')).toMatchObject({ title: 'Now with guests' })
  expect(eventOf('channel.follow')).toMatchObject({ user_id: fan?.id, followed_at: '2026-03-01T12:02:10Z' })
  expect(eventOf('drop.entitlement.grant')).toMatchObject({
    user_id: fan?.id,
    created_at: '2026-03-01T12:10:00.000Z',
  })
  await strand.clock.advance(3000)
  await until(() => received.length === 6)
  expect(typesSeen().at(-1)).toBe('stream.offline')
})

test('a reset starts again with the first, and a change that is refused stops none of the later ones', async () => {
  const scenario: Scenario = {
    users: { away: {} },
    events: [
      { type: 'stream.online', user: 'away', after_seconds: 20 },
      { type: 'stream.offline', user: 'away', after_seconds: 10 },
    ],
  }
  await using strand = await startStrand({
    streams: 1,
    clock: '2026-03-01T12:00:00Z',
    scenario,
    log: 'silent',
  })
  const isLive = async () => {
    const response = await fetch(`${strand.url}/helix/streams?user_id=${strand.world.scenario?.away?.id}`)
    return ((await response.json()) as { data: unknown[] }).data.length === 1
  }
  for (let turn = 0; turn < 2; turn++) {
    expect(await isLive()).toBe(false)
    await strand.clock.advance(30)
    await until(isLive)
    await strand.reset()
  }
  expect(await isLive()).toBe(false)
})

test('a mistake is named by its place', () => {
  const event = { type: 'stream.online', user: 'viewer', after_seconds: 1 }
  for (const [changes, message] of [
    [{ user: 'stranger' }, '$.events[0].user is "stranger"'],
    [{ type: 'channel.follow', by: 'stranger' }, '$.events[0].by is "stranger"'],
    [{ by: 'editor' }, '$.events[0].by is only allowed with channel.follow'],
    [{ title: 'x' }, '$.events[0].title is only allowed with channel.update'],
    [{ type: 'channel.update' }, '$.events[0] needs a title'],
    [{ type: 'channel.raid' }, '$.events[0].type must be one of stream.online'],
    [{ after_seconds: -1 }, '$.events[0].after_seconds'],
  ] as const)
    expect(() => checkScenario({ events: [{ ...event, ...changes }] })).toThrow(message)
})

test('an event that the store refuses is tried again, and moving the clock runs what is due before it returns', async () => {
  const demo = new DemoControls(new MovableClock({ at: 1000, running: false }))
  let attempts = 0
  const runSteps = async () => {
    attempts += 1
    if (attempts === 1) throw new Unavailable('busy')
  }
  const log = { warn: () => undefined }
  const services = { store: { commands: { runSteps } }, clock: demo.clock, log } as unknown as Services
  const events = new ScenarioEvents(services)
  demo.timeline.use('events', events)
  events.restart([{ after: 60_000, stepAt: () => [] as never }], 1000)
  const move = (to: number) => demo.timeline.alone(() => demo.timeline.playTo(to))
  await move(60_999)
  expect(attempts).toBe(0)
  await move(61_000)
  expect([attempts, demo.clock.now()]).toEqual([1, 61_000])
  await demo.timeline.runDue()
  expect(attempts).toBe(2)
  await demo.timeline.runDue()
  expect(attempts).toBe(2)
})
