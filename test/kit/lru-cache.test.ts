import { describe, expect, test } from 'bun:test'
import { LruCache } from '../../src/kit/lru-cache.ts'

describe('what was used recently', () => {
  test('as many as promised are kept, however many come between', () => {
    const recent = new LruCache<number>(100)
    recent.set('kept', 1)
    for (let n = 0; n < 10_000; n++) {
      recent.set(`passing ${n}`, n)
      if (n % 90 === 0) expect(recent.get('kept')).toBe(1)
    }
  })

  test('unused entries go, so that memory stays bounded', () => {
    const recent = new LruCache<number>(100)
    for (let n = 0; n < 10_000; n++) recent.set(String(n), n)
    const kept = Array.from({ length: 10_000 }, (_, n) => n).filter(n => recent.get(String(n)) !== undefined)
    expect(kept.length).toBeLessThanOrEqual(200)
    expect(kept.at(-1)).toBe(9999)
  })

  test('what is deleted is gone from both generations', () => {
    const recent = new LruCache<number>(2)
    for (const name of ['a', 'b', 'c']) recent.set(name, 1)
    recent.get('a')
    recent.delete('a')
    expect(recent.get('a')).toBeUndefined()
    expect(recent.get('c')).toBe(1)
  })

  test('half a million names take no longer each than a few', () => {
    const recent = new LruCache<number>(50_000)
    for (let n = 0; n < 500_000; n++) recent.set(String(n), n)
    expect(recent.get('499999')).toBe(499_999)
  })

  test('an entry may take more room than another, and what is dropped is announced', () => {
    let drops = 0
    const dropped = () => {
      drops += 1
    }
    const recent = new LruCache<number>(10, { weigh: value => value, dropped })
    recent.set('a', 6)
    recent.set('b', 4)
    expect([drops, recent.size]).toEqual([0, 2])
    recent.set('b', 3)
    recent.set('c', 2)
    expect([drops, recent.get('a')]).toEqual([1, 6])
    recent.set('d', 9)
    expect([drops, recent.get('b')]).toEqual([2, undefined])
    expect([...recent].map(([name]) => name).sort()).toEqual(['a', 'c', 'd'])
    recent.clear()
    expect([recent.size, recent.get('d')]).toEqual([0, undefined])
  })
})
