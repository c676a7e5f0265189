import { expect, test } from 'bun:test'
import { driftViewers } from '../../src/demo/demo.ts'
import { SeededRandom } from '../../src/kit/random.ts'

test('the viewers of a demo change by at most 5 %, and no channel ever has none', () => {
  const random = new SeededRandom(1)
  for (const start of [1, 2, 25, 20_000]) {
    let viewers = start
    for (let turn = 0; turn < 2000; turn++) {
      const next = driftViewers(random, viewers)
      expect(Math.abs(next - viewers)).toBeLessThanOrEqual(Math.max(1, viewers * 0.05 + 0.5))
      expect(next).toBeGreaterThanOrEqual(1)
      viewers = next
    }
  }
})
