import { describe, expect, test } from 'bun:test'
import { Outage } from '../../src/kit/telemetry/outage.ts'

describe('an outage', () => {
  test('is reported when it begins, every five seconds, and when it ends', () => {
    const outage = new Outage()
    expect(outage.fail(1000)).toEqual({ event: 'began', failures: 1, seconds: 0 })
    for (let now = 1010; now < 6000; now += 10) expect(outage.fail(now)).toBeUndefined()
    expect(outage.fail(6000)).toEqual({ event: 'continues', failures: 500, seconds: 5 })
    expect(outage.fail(6001)).toBeUndefined()
    expect(outage.fail(12_000)).toEqual({ event: 'continues', failures: 2, seconds: 11 })
    expect(outage.end(13_000)).toEqual({ event: 'ended', failures: 503, seconds: 12 })
  })

  test('that has not begun does not end, and one that ended begins again', () => {
    const outage = new Outage()
    expect(outage.end(0)).toBeUndefined()
    outage.fail(1)
    expect(outage.isOpen).toBe(true)
    expect(outage.end(2)?.event).toBe('ended')
    expect(outage.isOpen).toBe(false)
    expect(outage.end(3)).toBeUndefined()
    expect(outage.fail(4)).toEqual({ event: 'began', failures: 1, seconds: 0 })
  })

  test('is quiet five seconds after the last failure, and only if there was one', () => {
    const outage = new Outage()
    expect(outage.isQuiet(1_000_000)).toBe(false)
    outage.fail(1_000_000)
    expect(outage.isQuiet(1_004_999)).toBe(false)
    expect(outage.isQuiet(1_005_000)).toBe(true)
  })
})
