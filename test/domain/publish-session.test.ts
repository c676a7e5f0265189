import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  admit,
  LATE_MILLISECONDS,
  lastHeard,
  readPublishName,
  SILENT_MILLISECONDS,
} from '../../src/domain/publish-session.ts'
import { anyCharacter } from '../support/properties.ts'

const NOW = 1_000_000
const live = (alive_at = NOW) => ({ alive_at, ended_at: null })
const ended = (ended_at: number) => ({ alive_at: ended_at, ended_at })

describe('a publisher', () => {
  test('starts when the channel has none', () => {
    expect(admit(NOW, undefined, undefined, 'refuse')).toBe('start')
  })

  test('is known if its session is live', () => {
    expect(admit(NOW, live(), undefined, 'refuse')).toBe('known')
    expect(admit(NOW, live(), live(), 'take_over')).toBe('known')
  })

  test('is late just after its session ended, and new when a restarted media server reuses the id', () => {
    expect(admit(NOW, ended(NOW - LATE_MILLISECONDS + 1), undefined, 'refuse')).toBe('late')
    expect(admit(NOW, ended(NOW - LATE_MILLISECONDS), undefined, 'refuse')).toBe('start')
  })

  test('is refused beside another one, or takes over, as the channel is set', () => {
    expect(admit(NOW, undefined, live(), 'refuse')).toBe('busy')
    expect(admit(NOW, undefined, live(), 'take_over')).toBe('take over')
  })

  test('takes over from one without a sign of life', () => {
    expect(admit(NOW, undefined, live(NOW - SILENT_MILLISECONDS), 'refuse')).toBe('take over')
    expect(admit(NOW, undefined, live(NOW - SILENT_MILLISECONDS + 1), 'refuse')).toBe('busy')
  })
})

test('a session was last heard when it was reported, or when its recording ends; never in the future', () => {
  const stream_started_at = '2026-03-01T12:00:00Z'
  const start = Date.parse(stream_started_at)
  const session = { alive_at: '2026-03-01T12:00:05.000Z', stream_started_at }
  expect(lastHeard(session, undefined, start + 60_000)).toBe(start + 5000)
  expect(lastHeard(session, 8300, start + 60_000)).toBe(start + 8300)
  expect(lastHeard(session, 1000, start + 60_000)).toBe(start + 5000)
  expect(lastHeard(session, 90_000, start + 60_000)).toBe(start + 60_000)
  expect(lastHeard({ ...session, stream_started_at: null }, 8300, start + 60_000)).toBe(start + 5000)
})

describe('the name of a stream', () => {
  test('is the key, or a login with the key', () => {
    expect(readPublishName('live_1_abc')).toEqual({ key: 'live_1_abc' })
    for (const parameter of ['key', 'token', 'pass'])
      expect(readPublishName(`Lunar_Otter?${parameter}=live_1_abc`)).toEqual({
        key: 'live_1_abc',
        login: 'lunar_otter',
      })
    expect(readPublishName('live_1_abc?bandwidthtest=true')).toEqual({ key: 'live_1_abc' })
  })

  test('without a key, or with two, opens nothing', () => {
    for (const name of ['', '?', '?key=live_1_abc', 'otter?key=', 'otter?key=a&key=b', 'otter?key=a&token=b'])
      expect(readPublishName(name)).toBeUndefined()
  })

  test('may be any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), name =>
        expect(['object', 'undefined']).toContain(typeof readPublishName(name)),
      ),
    )
  })
})
