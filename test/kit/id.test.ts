import { expect, test } from 'bun:test'
import { decimalId, moveDecimalIds } from '../../src/kit/id.ts'

const NOW = Date.parse('2031-03-01T12:00:00Z')
const PER_MILLISECOND = 4096

test('decimal ids rise, also when the clock is set back', () => {
  const ids = [0, 0, 5, 3, 5, -1000].map(later => Number(decimalId(NOW + later)))
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.every(Number.isSafeInteger)).toBe(true)
})

test('a process keeps its place among the ids of a millisecond until one was taken', () => {
  const place = (later: number) => Number(decimalId(NOW + later)) % PER_MILLISECOND
  const places = new Set([1000, 2000, 3000].map(place))
  expect(places.size).toBe(1)
  for (let move = 0; move < 20; move++) {
    moveDecimalIds()
    places.add(place(4000 + move))
  }
  expect(places.size).toBeGreaterThan(1)
})
