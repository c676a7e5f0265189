import { describe, expect, test } from 'bun:test'
import { waitBefore } from '../../src/site/player/backoff.ts'
import { startBehindGap } from '../../src/site/player/gaps.ts'
import { rangesWithin } from '../../src/site/player/ranges.ts'

describe('the player', () => {
  test('waits twice as long before each attempt, at most 10 s, and not as long as others', () => {
    expect([0, 1, 2, 3, 4, 5, 50].map(attempt => waitBefore(attempt, 0.5))).toEqual([
      500, 1000, 2000, 4000, 8000, 10_000, 10_000,
    ])
    expect([waitBefore(1, 0), waitBefore(1, 1)]).toEqual([750, 1250])
  })

  test('continues behind a gap, and only if it stands before one', () => {
    const ranges = [
      { start: 0, end: 10 },
      { start: 14, end: 20 },
    ]
    expect([5, 9.9, 10, 12, 15, 19.9, 25].map(time => startBehindGap(ranges, time))).toEqual([
      undefined,
      14,
      14,
      14,
      undefined,
      undefined,
      undefined,
    ])
  })

  test('asks for ranges within the file', () => {
    const file = { bytes: Number.POSITIVE_INFINITY }
    const handler = new (rangesWithin(file))()
    const rangeOf = (from: number, to = -1) => handler.getConfig('/videos/1.flv', { from, to }).headers
    expect(rangeOf(0)).toEqual({})
    expect(rangeOf(500)).toEqual({ Range: 'bytes=500-' })
    file.bytes = 1000
    expect(rangeOf(500, 700)).toEqual({ Range: 'bytes=500-700' })
    expect(rangeOf(1000)).toEqual({ Range: 'bytes=996-' })
  })
})
