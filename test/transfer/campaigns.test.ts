import { describe, expect, test } from 'bun:test'
import { exampleCampaign, exampleDrop } from '../../src/contract/resources/campaign.ts'
import { textOf, ways, withStations } from './round-trip.ts'
import { exported, imported, type Station } from './stations.ts'

const { phase: _, ...example } = exampleCampaign
const ORGANIZATION = example.organization_id
const BENEFIT = exampleDrop.benefit_ids[0] ?? ''
const ENTITLEMENT = 'fb78259e-fb81-4d1b-8333-34a06ffc24c0'
const time = '2026-03-01T12:31:00.250Z'
const before = [
  { type: 'organization', id: ORGANIZATION, name: 'Reef' },
  { type: 'user', id: '25009227', login: 'quiet_heron' },
  { type: 'user', id: '141981764', login: 'lunar_otter' },
  { type: 'game', id: example.game_id, name: 'Tidefall', organization_id: ORGANIZATION },
  { type: 'benefit', id: BENEFIT, name: 'Lantern', organization_id: ORGANIZATION, game_id: null },
  { type: 'client', id: example.link_client_id, name: 'Reef', organization_id: ORGANIZATION, kind: 'public' },
]
const campaign = { type: 'campaign', ...example }
const listed = {
  ...campaign,
  id: '0b6f5a1e-6f0a-4f38-8f9f-2f4f3f1e9c11',
  state: 'stopped',
  stopped_at: time,
  channels: 'listed',
  channel_ids: ['141981764', '25009227'],
  drops: [{ ...exampleDrop, id: '5d0c1f63-5f0b-4c56-9a3b-0f3f8f2f6a09' }],
}
const progress = { type: 'drop_progress', campaign_id: example.id, user_id: '25009227', minutes: 45 }
const claim = {
  type: 'drop_claim',
  user_id: '25009227',
  drop_id: exampleDrop.id,
  benefit_id: BENEFIT,
  entitlement_id: ENTITLEMENT,
  claimed_at: time,
  source: 'viewer',
}
const grant = {
  type: 'entitlement',
  id: ENTITLEMENT,
  user_id: '25009227',
  benefit_id: BENEFIT,
  game_id: example.game_id,
  timestamp: time,
  fulfillment_status: 'CLAIMED',
  last_updated: time,
  campaign_id: example.id,
}
const after = [campaign, listed, progress, { ...progress, campaign_id: listed.id, minutes: 3 }, claim]
/** Campaigns come before the entitlements that were earned in them. */
const file = [...before, campaign, listed, grant, ...after.slice(2)]

describe.each(ways)('campaigns from %s to %s', (from, to) => {
  test('are exported, imported and exported again as they are', async () => {
    await withStations([from, to], async (...stations) => {
      const [first, second] = stations as [Station, Station]
      expect((await imported(first, textOf(file))).skipped).toBe(0)
      const out = await exported(first)
      const lines = out.split('\n').filter(line => /"type":"(campaign|drop_)/.test(line))
      expect(lines.map(line => JSON.parse(line))).toEqual(after)
      // An entitlement stays that of its campaign.
      expect(out).toContain(JSON.stringify(grant))
      await imported(second, out)
      expect(await exported(second)).toBe(out)
      // A repeat changes nothing, and an old file takes no minutes away.
      await imported(second, textOf([{ ...progress, minutes: 44 }, claim, campaign]))
      expect(await exported(second)).toBe(out)
      await imported(second, textOf([{ ...progress, minutes: 46 }]))
      expect(await exported(second)).toContain('"minutes":46')
    })
  })
})

test('lines that name what does not exist, or make a promise harder, are refused', async () => {
  await withStations(['sqlite'], async (...stations) => {
    const [station] = stations as [Station]
    await imported(station, textOf(file))
    const unknown = '00000000-0000-4000-8000-000000000000'
    const harder = [{ ...exampleDrop, required_minutes: 31 }]
    for (const [line, why] of [
      [
        { ...campaign, id: unknown, drops: [{ ...exampleDrop, id: unknown, benefit_ids: [unknown] }] },
        'the benefit',
      ],
      [{ ...listed, channel_ids: ['999'] }, 'the user'],
      [{ ...campaign, id: unknown }, 'another campaign'],
      [{ ...campaign, drops: harder }, 'campaign_published'],
      [{ ...progress, campaign_id: unknown }, 'the campaign'],
      [{ ...claim, drop_id: unknown }, 'the drop'],
    ] as const) {
      const outcome = await imported(station, textOf([line])).then(
        result => JSON.stringify(result),
        (error: Error) => error.message,
      )
      expect(outcome).toContain(why)
    }
  })
})
