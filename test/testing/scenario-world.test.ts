/** What a scenario has about its users is in the store of the demo that it starts. */
import { describe, expect, test } from 'bun:test'
import { StreamKeys } from '../../src/auth/stream-keys.ts'
import type { Scenario } from '../../src/contract/resources/scenario.ts'
import { checkScenario } from '../../src/demo/read-scenario.ts'
import { planWorld } from '../../src/demo/world.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { exportLines } from '../../src/transfer/export.ts'
import { engines } from '../support/server.ts'
import { openTestStore } from '../support/store/stores.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')

const SCENARIO = {
  users: {
    star: {
      id: '4200001',
      description: 'Finals every night.',
      broadcaster_type: 'partner',
      email: 'star@example.com',
      editors: ['editor', 'fan'],
      past_videos: 2,
      stream: { title: 'The finals', language: 'other', tags: ['Sea', '深海'], game: 'Kite Racers' },
    },
    quiet: { stream: { game: '' }, vod_enabled: false, past_videos: 1 },
    fan: { follows: ['quiet', { user: 'star', followed_seconds_ago: 86_400 }] },
  },
} as const

/** The lines of an export of the demo with this scenario. */
async function exportOf(engine: (typeof engines)[number], scenario: unknown) {
  const { store, close } = await openTestStore(engine)
  try {
    const streamKeys = new StreamKeys(new KeyRing([{ id: 'any', bytes: new Uint8Array(32) }]))
    const plan = planWorld({ seed: 7, streams: 3, scenario: checkScenario(scenario) }, NOW, streamKeys)
    await store.commands.runSteps({ steps: plan.steps })
    let text = ''
    await exportLines(store, {}, lines => {
      text += lines
    })
    const lines = text.split('\n').filter(line => line !== '')
    return { things: plan.world.scenario ?? {}, lines: lines.map(line => JSON.parse(line)) }
  } finally {
    await close()
  }
}

describe.each([...engines])('a scenario on %s', engine => {
  test('gives users a profile, channels their texts, follows and editors', async () => {
    const { lines, things } = await exportOf(engine, SCENARIO)
    const find = (type: string, fields: Record<string, unknown>) =>
      lines.filter(
        line => line.type === type && Object.entries(fields).every(([name, value]) => line[name] === value),
      )
    const { star, quiet, fan } = things
    expect(find('user', { id: star?.id })[0]).toMatchObject({
      description: 'Finals every night.',
      broadcaster_type: 'partner',
      email: 'star@example.com',
    })
    const [kites] = find('game', { name: 'Kite Racers' })
    const channel = { title: 'The finals', language: 'other', game_id: kites.id }
    expect(find('channel', { user_id: star?.id })[0]).toMatchObject({ ...channel, tags: ['Sea', '深海'] })
    const videos = find('video', { user_id: star?.id })
    expect(videos).toHaveLength(3)
    for (const video of videos) expect(video).toMatchObject(channel)
    expect(find('channel', { user_id: quiet?.id })[0]).toMatchObject({ game_id: '', vod_enabled: false })
    expect(find('video', { user_id: quiet?.id })).toHaveLength(1)
    expect(find('editor', { user_id: star?.id })).toHaveLength(2)
    expect(find('editor', { user_id: star?.id, editor_id: fan?.id })).toHaveLength(1)
    const times = [star, quiet].map(who => find('follow', { user_id: fan?.id, broadcaster_id: who?.id })[0])
    expect(times.map(line => line.followed_at)).toEqual(['2026-02-28T12:00:00Z', '2026-03-01T12:00:00Z'])
  })
})

describe.each([...engines])('a studio on %s', engine => {
  test('has games, benefits, clients and grants, which refer to each other by name', async () => {
    const { lines, things } = await exportOf(engine, {
      organizations: { studio: { name: 'Kelp Works' } },
      games: { kelp_run: { organization: 'studio' }, free: { id: '77' } },
      benefits: { lantern: { organization: 'studio', game: 'kelp_run' }, cloak: {} },
      clients: { fulfilment: { organization: 'studio' }, app: { kind: 'public' } },
      users: { player: { stream: { game: 'free' } } },
      entitlements: { one: { user: 'player', benefit: 'lantern', game: 'free' } },
      grants: { launch: { count: 2500, benefit: 'lantern', users: ['player', 'viewer'], fulfilled: 40 } },
      tokens: { own: { kind: 'app', client: 'fulfilment' } },
    })
    const ofType = (type: string) => lines.filter(line => line.type === type)
    const { studio, kelp_run, lantern, fulfilment, app, player, one, launch, own } = things
    expect(ofType('organization').find(({ id }) => id === studio?.id)?.name).toBe('Kelp Works')
    expect(ofType('game').find(({ id }) => id === kelp_run?.id)?.organization_id).toBe(studio?.id)
    expect(ofType('benefit').find(({ id }) => id === lantern?.id)).toMatchObject({
      name: 'lantern',
      organization_id: studio?.id,
      game_id: kelp_run?.id,
    })
    expect(ofType('client').find(({ id }) => id === fulfilment?.id)?.organization_id).toBe(studio?.id)
    expect([app?.secret, app?.app_token]).toEqual(['', ''])
    expect(own?.client_id).toBe(fulfilment?.id)
    expect(ofType('channel').find(({ user_id }) => user_id === player?.id)?.game_id).toBe('77')
    const granted = ofType('entitlement').filter(({ benefit_id }) => benefit_id === lantern?.id)
    expect(granted).toHaveLength(2501)
    expect(granted.find(({ id }) => id === one?.id)).toMatchObject({ user_id: player?.id, game_id: '77' })
    const bulk = granted.filter(({ id }) => id !== one?.id)
    expect(bulk.filter(({ fulfillment_status }) => fulfillment_status === 'FULFILLED')).toHaveLength(40)
    expect(bulk.filter(({ user_id }) => user_id === player?.id)).toHaveLength(1250)
    expect(new Set(bulk.map(({ timestamp }) => timestamp)).size).toBe(2500)
    expect(launch).toEqual({
      count: 2500,
      organization_id: studio?.id ?? '',
      benefit_id: lantern?.id ?? '',
      game_id: kelp_run?.id ?? '',
    })
  })
})

test('a mistake is named by its place', () => {
  for (const [star, message] of [
    [{ stream: { tags: ['two words'] } }, '$.users.star.stream.tags was malformed: the tag "two words"'],
    [
      { stream: { game: 'Chess' } },
      '$.users.star.stream.game is "Chess", but must be empty or one of Tidefall',
    ],
    [{ stream: { language: 'english' } }, '$.users.star.stream.language'],
    [{ editors: ['stranger'] }, '$.users.star.editors[0] is "stranger"'],
    [
      { follows: [{ user: 'stranger', followed_seconds_ago: 1 }] },
      '$.users.star.follows[0].user is "stranger"',
    ],
    [{ email: 'nowhere' }, '$.users.star.email'],
    [{ description: 'x'.repeat(301) }, '$.users.star.description'],
    [{ broadcaster_type: 'king' }, '$.users.star.broadcaster_type must be one of'],
  ] as const)
    expect(() => checkScenario({ users: { star } } as Scenario)).toThrow(message)
})
