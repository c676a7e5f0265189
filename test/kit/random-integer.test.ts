import { describe, expect, test } from 'bun:test'
import { randomInteger } from '../../src/kit/random-integer.ts'

describe('a random integer', () => {
  test('is each of the few that there are, and no other', () => {
    const drawn = Array.from({ length: 1000 }, () => randomInteger(3, 8))
    expect([...new Set(drawn)].sort()).toEqual([3, 4, 5, 6, 7])
  })

  test('is as often in one third of a large range as in the others', () => {
    // Without drawing again, the first third would have half of them.
    const high = 3 * 2 ** 30
    const drawn = Array.from({ length: 9000 }, () => randomInteger(0, high))
    expect(drawn.every(number => Number.isInteger(number) && number >= 0 && number < high)).toBe(true)
    for (const third of [0, 1, 2]) {
      const count = drawn.filter(number => Math.floor(number / 2 ** 30) === third).length
      expect(Math.abs(count - 3000)).toBeLessThan(400)
    }
  })

  test('has up to 32 bits', () => {
    const drawn = Array.from({ length: 1000 }, () => randomInteger(0, 2 ** 32))
    expect(Math.max(...drawn)).toBeGreaterThan(2 ** 31)
  })
})
