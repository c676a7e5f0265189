import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { durationText, parsePosition, videoMoment, videoSeconds } from '../../src/domain/timeline.ts'

const seconds = fc.nat(2 ** 31 - 1)

test.each([
  [0, '0s'],
  [50, '50s'],
  [60, '1m0s'],
  [201, '3m21s'],
  [600, '10m0s'],
  [3600, '1h0m0s'],
  [3601, '1h0m1s'],
  [36_000, '10h0m0s'],
  [11_313, '3h8m33s'],
])('a duration of %d s is %s', (duration, text) => expect(durationText(duration)).toBe(text))

test('every duration has the parts that it needs, none of them padded, and can be read back', () => {
  fc.assert(
    fc.property(seconds, duration => {
      const text = durationText(duration)
      const [, hours, minutes, rest] =
        /^(?:([1-9][0-9]*)h)?(?:(0|[1-9][0-9]?)m)?(0|[1-9][0-9]?)s$/.exec(text) ?? []
      expect(Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(rest)).toBe(duration)
      expect(Number(minutes ?? 0)).toBeLessThan(60)
      expect(Number(rest)).toBeLessThan(60)
      expect([hours !== undefined, minutes !== undefined]).toEqual([duration >= 3600, duration >= 60])
      expect(parsePosition(text)).toBe(duration)
    }),
  )
})

test('the position in the URL of a marker, and in seconds, can be read back', () => {
  fc.assert(
    fc.property(seconds, position => {
      for (const text of [videoMoment(position), `${position}s`, `${position}`, `0h0m${position}s`])
        expect(parsePosition(text)).toBe(position)
    }),
  )
})

test('no other text is a position', () => {
  for (const text of [
    '',
    'h',
    's',
    '-1',
    '1.5',
    ' 1',
    '1 ',
    '1d',
    '4:04',
    '1s1m',
    '1e3',
    '\u0663',
    '2147483648',
  ])
    expect([text, parsePosition(text)]).toEqual([text, undefined])
  fc.assert(
    fc.property(fc.string(), text => {
      const position = parsePosition(text)
      if (position !== undefined) expect(text).toMatch(/^[0-9hms]+$/)
    }),
  )
})

test('a video lasts until its end, or until now; never less than nothing', () => {
  const created_at = '2026-03-01T12:00:00Z'
  const at = (time: string) => Date.parse(time)
  expect(videoSeconds({ created_at, ended_at: '2026-03-01T12:03:21Z' }, 0)).toBe(201)
  expect(videoSeconds({ created_at, ended_at: null }, at('2026-03-01T12:00:50.900Z'))).toBe(50)
  expect(videoSeconds({ created_at, ended_at: null }, at('2026-03-01T11:00:00Z'))).toBe(0)
})
