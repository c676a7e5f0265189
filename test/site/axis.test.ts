/** The ticks of charts: one rule, with labels that people can read. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { axisTicks, timeTicks } from '../../src/site/charts/axis.ts'
import { CHARTS, FORMATS } from '../../src/site/charts/console-charts.ts'

const highest = fc.oneof(
  fc.double({ min: 0, max: 20, noNaN: true }),
  fc.double({ min: 0, max: 1e8, noNaN: true }),
)

test('ticks begin at 0, reach the highest value, and have a step of 1, 2 or 5 times a power of ten', () => {
  fc.assert(
    fc.property(highest, fc.boolean(), (high, isCount) => {
      const ticks = axisTicks(high, isCount)
      const [first, step = 0] = ticks
      expect(first).toBe(0)
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(high)
      expect(ticks.length).toBeWithin(2, 6)
      expect(['1', '2', '5']).toContain(String(step.toExponential()).replace(/e.*/, ''))
      for (const [index, tick] of ticks.entries()) expect(tick).toBeCloseTo(index * step, 6)
      if (isCount) expect(ticks.filter(tick => !Number.isInteger(tick))).toEqual([])
    }),
  )
})

test('the labels of an axis are the values of its ticks, each another one', () => {
  fc.assert(
    fc.property(highest, fc.constantFrom(...CHARTS), (high, { unit }) => {
      const labels = axisTicks(high, unit === 'count').map(FORMATS[unit])
      expect(new Set(labels).size).toBe(labels.length)
    }),
  )
})

test('small values have an axis without odd fractions', () => {
  for (const [high, isCount, ticks] of [
    [0, true, [0, 1]],
    [0.3, true, [0, 1]],
    [1.2, true, [0, 1, 2]],
    [3, true, [0, 1, 2, 3]],
    [40, true, [0, 10, 20, 30, 40]],
    [86_000, true, [0, 50_000, 100_000]],
    [0.3, false, [0, 0.5, 1]],
    [2.4, false, [0, 1, 2, 3]],
  ] as const)
    expect([high, ...axisTicks(high, isCount)]).toEqual([high, ...ticks])
})

test('times have whole steps of a clock, lie within the chart, and are no more than fit', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1_700_000_000, max: 1_900_000_000 }),
      fc.integer({ min: 60, max: 20_000 }),
      fc.integer({ min: 1, max: 8 }),
      (from, seconds, most) => {
        const ticks = timeTicks(from, from + seconds, most)
        expect(ticks.length).toBeWithin(0, most + 2)
        const step = (ticks[1] ?? 0) - (ticks[0] ?? 0)
        for (const tick of ticks) {
          expect(tick).toBeWithin(from, from + seconds + 1)
          if (ticks.length > 1) expect(tick % step).toBe(0)
        }
      },
    ),
  )
  expect(timeTicks(600, 900, 4)).toEqual([600, 720, 840])
  expect(timeTicks(605, 665, 4)).toEqual([615, 630, 645, 660])
  expect(timeTicks(0, 900, 3)).toEqual([0, 300, 600, 900])
})

test('every axis has its unit in its labels, unless it counts', () => {
  for (const { unit } of CHARTS)
    expect(FORMATS[unit](2)).toBe({ count: '2', rate: '2/s', milliseconds: '2 ms' }[unit])
})
