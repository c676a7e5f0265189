import { describe, expect, test } from 'bun:test'
import { NetworkShares } from '../../src/kit/queues/network-shares.ts'

/** How many places the addresses get, one after the other, until one is refused. */
function takenFrom(places: NetworkShares, addresses: (n: number) => string): number {
  let n = 0
  while (places.take(addresses(n)) !== undefined) n += 1
  return n
}

describe('100 places', () => {
  test('give a network twenty, and leave the others to other networks', () => {
    const places = new NetworkShares(100)
    expect(takenFrom(places, () => '192.0.2.1')).toBe(20)
    expect(takenFrom(places, n => `198.51.100.${n}`)).toBe(80)
    expect(places.taken).toBe(100)
  })

  test('give a site, which has many networks, forty', () => {
    const places = new NetworkShares(100)
    expect(takenFrom(places, n => `2001:db8:1:${n.toString(16)}::1`)).toBe(40)
    expect(places.take('2001:db8:2::1')).toBeDefined()
  })

  test('are all for this machine, which may be a proxy', () => {
    expect(takenFrom(new NetworkShares(100), () => '127.0.0.1')).toBe(100)
    expect(takenFrom(new NetworkShares(100), () => '::1')).toBe(100)
  })

  test('are free again when they are left', () => {
    const places = new NetworkShares(100)
    const leaves = Array.from({ length: 20 }, () => places.take('192.0.2.1'))
    expect(places.take('192.0.2.1')).toBeUndefined()
    leaves[0]?.()
    expect(places.taken).toBe(19)
    expect(places.take('192.0.2.1')).toBeDefined()
    for (const leave of leaves.slice(1)) leave?.()
    expect(places.taken).toBe(1)
  })
})

test('few places still have one for every network', () => {
  const places = new NetworkShares(3)
  expect(takenFrom(places, () => '192.0.2.1')).toBe(1)
  expect(takenFrom(places, n => `198.51.100.${n}`)).toBe(2)
})

test('no places are none, for this machine as well', () => {
  expect(new NetworkShares(0).take('127.0.0.1')).toBeUndefined()
})
