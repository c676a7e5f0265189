import { expect, test } from 'bun:test'
import { ClockSkips } from '../../src/kit/time/clock-skips.ts'

test('a clock that is set forward skips time, one that runs or is set back does not', () => {
  const times = { clock: 1_000_000, steady: 0 }
  const skips = new ClockSkips({ now: () => times.clock }, () => times.steady)
  const after = (clock: number, steady: number) => {
    times.clock += clock
    times.steady += steady
    return skips.look()
  }
  expect(after(1000, 1000)).toBe(false)
  expect(after(60_000, 60_000)).toBe(false)
  expect(after(61_000, 1000)).toBe(true)
  expect(after(1000, 1000)).toBe(false)
  expect(after(-61_000, 1000)).toBe(false)
  expect(after(1000, 1000)).toBe(false)
})
