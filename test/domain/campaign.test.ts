import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { exampleCampaign, exampleDrop } from '../../src/contract/resources/campaign.ts'
import {
  campaignPhase,
  checkContent,
  checkEdit,
  checkPublish,
  dropState,
  maxConcurrent,
  minutesLeft,
  missingParts,
  readTimes,
  type StoredCampaign,
} from '../../src/domain/campaign.ts'
import { isoMillis } from '../../src/kit/time/clock.ts'

const HOUR = 3_600_000
const START = Date.parse('2026-03-01T12:00:00.000Z')
const { phase: _, ...example } = exampleCampaign
const at = (hours: number) => isoMillis(START + hours * HOUR)
/** Ten hours, and an hour to claim. */
const published: StoredCampaign = {
  ...example,
  starts_at: at(0),
  ends_at: at(10),
  claim_seconds: 3600,
  link_client_id: 'studio',
  drops: [exampleDrop, { ...exampleDrop, id: '5d0c1f63-5f0b-4c56-9a3b-0f3f8f2f6a02', required_minutes: 90 }],
}

describe('the phase', () => {
  test.each([
    [-1, 'upcoming'],
    [0, 'active'],
    [9.99, 'active'],
    [10, 'claimable'],
    [10.99, 'claimable'],
    [11, 'ended'],
  ] as const)('after %p hours is %p', (hours, phase) => {
    expect(campaignPhase(readTimes(published), START + hours * HOUR)).toBe(phase)
  })

  test('of a draft is null, and of a stopped campaign follows from the stop, or from the end if that was before', () => {
    expect(campaignPhase(readTimes({ ...published, state: 'draft' }), START)).toBeNull()
    const stopped = { ...published, state: 'stopped', stopped_at: at(2) } as const
    for (const [hours, phase] of [
      [2, 'claimable'],
      [2.99, 'claimable'],
      [3, 'ended'],
    ] as const)
      expect(campaignPhase(readTimes(stopped), START + hours * HOUR)).toBe(phase)
    expect(readTimes({ ...stopped, stopped_at: at(10.5) }).ends).toBe(START + 10 * HOUR)
  })

  test('only moves forward', () => {
    const order = ['upcoming', 'active', 'claimable', 'ended']
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -5, max: 20 })), hours => {
        const phases = hours
          .sort((a, b) => a - b)
          .map(hour => campaignPhase(readTimes(published), START + hour * HOUR))
        const places = phases.map(phase => order.indexOf(phase ?? ''))
        expect(places).toEqual(places.toSorted((a, b) => a - b))
      }),
    )
  })
})

const edit = (change: Partial<StoredCampaign>, now = START + HOUR) =>
  checkEdit(published, { ...published, ...change }, now)
const [first = exampleDrop, second = exampleDrop] = published.drops

describe('an edit of a published campaign', () => {
  test.each<Partial<StoredCampaign>>([
    { name: 'Renamed' },
    { link_url: 'https://reef.example/other' },
    { link_client_id: 'another' },
    { auto_claim: true },
    { ends_at: at(2) },
    { ends_at: at(20) },
    { channels: 'listed', channel_ids: ['1'] },
    { drops: [first, second, { ...first, id: '5d0c1f63-5f0b-4c56-9a3b-0f3f8f2f6a03' }] },
    { drops: [second, { ...first, required_minutes: 1, name: 'Less' }] },
    { drops: [{ ...first, benefit_ids: [...first.benefit_ids, 'more'] }, second] },
    { claim_seconds: 7200 },
    { account_link: 'none' } as const,
  ])('may be %p', change => {
    expect(edit(change)).toBeUndefined()
  })

  test.each([
    [{ organization_id: 'x' }, 'organization_id'],
    [{ game_id: '1' }, 'game_id'],
    [{ starts_at: at(1) }, 'starts_at'],
    [{ claim_seconds: 3599 }, 'claim_seconds'],
    [{ account_link: 'before_claim' } as const, 'account_link'],
    [{ drops: [first] }, 'drops'],
    [{ drops: [{ ...first, required_minutes: 31 }, second] }, 'drops.0.required_minutes'],
    [{ drops: [second, { ...first, benefit_ids: ['x'] }] }, 'drops.1.benefit_ids'],
  ])('cannot be %p, and the refusal names %p', (change, field) => {
    expect(edit(change)).toMatchObject({
      problem: 'campaign_published',
      details: [field, expect.any(String)],
    })
    expect(checkEdit({ ...published, state: 'draft' }, { ...published, ...change }, START)).toBeUndefined()
  })

  test('the start may move while it is ahead, and the end not into the past', () => {
    expect(edit({ starts_at: at(-1) }, START - 2 * HOUR)).toBeUndefined()
    expect(edit({ ends_at: at(1) }, START + 2 * HOUR)).toMatchObject({
      problem: 'malformed_parameter',
      details: ['ends_at', expect.any(String)],
    })
  })

  test('cannot make it incomplete', () => {
    expect(edit({ channels: 'listed', channel_ids: [] })).toMatchObject({
      problem: 'campaign_incomplete',
      details: ['channel_ids'],
    })
  })

  test('the client cannot change while accounts are linked before the claim', () => {
    const strict = { ...published, account_link: 'before_claim' } as const
    expect(checkEdit(strict, { ...strict, link_client_id: 'another' }, START)).toMatchObject({
      details: ['link_client_id', expect.any(String)],
    })
  })
})

describe('wrong content', () => {
  test.each([
    [{ ends_at: at(0) }, 'ends_at'],
    [{ ends_at: at(-1) }, 'ends_at'],
    [{ ends_at: at(366 * 24 + 1) }, 'ends_at'],
    [{ drops: [{ ...first, required_minutes: 601 }] }, 'drops.0.required_minutes'],
    [{ drops: [second, first, { ...first }] }, 'drops.2.id'],
    [{ drops: [{ ...first, benefit_ids: ['a', 'a'] }] }, 'drops.0.benefit_ids'],
  ])('%p: the refusal names %p', (change, field) => {
    const content = { ...published, ...change, state: 'draft' } as const
    expect(checkContent(content, undefined)).toMatchObject({
      problem: 'malformed_parameter',
      details: [field, expect.any(String)],
    })
    expect(checkPublish(content, START)).toMatchObject({ problem: 'malformed_parameter' })
  })

  test('366 days and as many minutes as there are may be', () => {
    expect(checkContent({ ...published, ends_at: at(366 * 24) }, undefined)).toBeUndefined()
    expect(
      checkContent({ ...published, drops: [{ ...first, required_minutes: 600 }] }, undefined),
    ).toBeUndefined()
  })
})

test('a campaign is complete with drops, channels and a link where they are needed', () => {
  const bare = { ...published, drops: [], link_client_id: null, link_url: null }
  expect(missingParts(published)).toEqual([])
  expect(missingParts({ ...bare, channels: 'listed', account_link: 'before_claim' })).toEqual([
    'drops',
    'channel_ids',
    'link_client_id',
    'link_url',
  ])
  expect(checkPublish({ ...published, state: 'draft' }, START)).toBeUndefined()
  expect(checkPublish({ ...bare, state: 'draft' }, START)).toMatchObject({ details: ['drops'] })
  expect(checkPublish({ ...published, state: 'stopped' }, START + 10 * HOUR)).toMatchObject({
    details: ['ends_at', expect.any(String)],
  })
})

test('campaigns at once are those that have a time in common', () => {
  const span = (starts: number, ends: number) => ({ starts, ends })
  expect(maxConcurrent([])).toBe(0)
  expect(maxConcurrent([span(0, 10), span(0, 1), span(1, 2), span(2, 3)])).toBe(2)
  expect(maxConcurrent([span(0, 10), span(1, 5), span(4, 6), span(5, 7)])).toBe(3)
})

test('a drop is earning, claimable, claimed or missed', () => {
  const state = (minutes: number, phase: 'active' | 'claimable' | 'ended', isClaimed = false) =>
    dropState({ minutes, required_minutes: 30, isClaimed, phase })
  expect([state(29, 'active'), state(30, 'active'), state(30, 'claimable')]).toEqual([
    'earning',
    'claimable',
    'claimable',
  ])
  expect([state(29, 'claimable'), state(30, 'ended'), state(30, 'ended', true)]).toEqual([
    'missed',
    'missed',
    'claimed',
  ])
  expect([minutesLeft(23, 30), minutesLeft(30, 30), minutesLeft(31, 30)]).toEqual([7, 0, 0])
})
