import { describe, expect, test } from 'bun:test'
import { Recent } from '../../src/kit/recent.ts'

describe('what was used recently', () => {
  test('as many as promised are kept, however many come between', () => {
    const recent = new Recent<number>(100)
    recent.set('kept', 1)
    for (let n = 0; n < 10_000; n++) {
      recent.set(`passing ${n}`, n)
      if (n % 90 === 0) expect(recent.get('kept')).toBe(1)
    }
  })

  test('what nobody uses goes, so that memory stays bounded', () => {
    const recent = new Recent<number>(100)
    for (let n = 0; n < 10_000; n++) recent.set(String(n), n)
    const kept = Array.from({ length: 10_000 }, (_, n) => n).filter(n => recent.get(String(n)) !== undefined)
    expect(kept.length).toBeLessThanOrEqual(200)
    expect(kept.at(-1)).toBe(9999)
  })

  test('what is deleted is gone from both generations', () => {
    const recent = new Recent<number>(2)
    for (const name of ['a', 'b', 'c']) recent.set(name, 1)
    recent.get('a')
    recent.delete('a')
    expect(recent.get('a')).toBeUndefined()
    expect(recent.get('c')).toBe(1)
  })

  test('half a million names take no longer each than a few', () => {
    const recent = new Recent<number>(50_000)
    for (let n = 0; n < 500_000; n++) recent.set(String(n), n)
    expect(recent.get('499999')).toBe(499_999)
  })
})
