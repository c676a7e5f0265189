import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Slots } from '../../src/events/slots.ts'

const LIMITS = { ofTarget: 8, total: 256 }
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`)

test('a target has 8 slots, and one while it fails', () => {
  const slots = new Slots(LIMITS)
  expect(slots.freeAt(['a', 'b'])).toEqual([
    { target: 'a', most: 8 },
    { target: 'b', most: 8 },
  ])
  const [first, ...others] = Array.from({ length: 8 }, () => slots.take('a'))
  expect(slots.freeAt(['a', 'b'])).toEqual([{ target: 'b', most: 8 }])
  first?.(true)
  expect(slots.freeAt(['a'])).toEqual([{ target: 'a', most: 1 }])
  for (const giveBack of others) giveBack(false)
  expect(slots.freeAt(['a'])).toEqual([{ target: 'a', most: 1 }])
  slots.take('a')(true)
  expect(slots.freeAt(['a'])).toEqual([{ target: 'a', most: 8 }])
  expect(slots.inFlight).toBe(0)
})

test('targets that hang leave half of all slots to those that have taken a message', () => {
  const slots = new Slots(LIMITS)
  slots.take('proven')(true)
  for (const { target, most } of slots.freeAt(names('hangs', 1000)))
    for (let n = 0; n < most; n++) slots.take(target)
  expect(slots.inFlight).toBe(128)
  expect(slots.freeAt(['another', 'proven'])).toEqual([{ target: 'proven', most: 8 }])
})

test('limits hold whatever the order of requests and their ends', () => {
  const steps = fc.array(
    fc.record({ target: fc.integer({ min: 0, max: 60 }), ends: fc.boolean(), took: fc.boolean() }),
  )
  fc.assert(
    fc.property(steps, all => {
      const slots = new Slots({ ofTarget: 3, total: 20 })
      const running: { target: string; end: (took: boolean) => void }[] = []
      for (const { target, ends, took } of all) {
        if (ends) running.shift()?.end(took)
        else
          for (const { target: name, most } of slots.freeAt([`t${target}`]))
            for (let n = 0; n < most; n++) running.push({ target: name, end: slots.take(name) })
        const counts = Map.groupBy(running, each => each.target)
        if ([...counts.values()].some(each => each.length > 3)) return false
        if (slots.inFlight !== running.length || slots.inFlight > 20 || slots.free < 0) return false
      }
      return true
    }),
  )
})

test('memory is bounded by the number of targets that are remembered', () => {
  const slots = new Slots(LIMITS)
  const held = slots.take('held')
  for (const target of names('t', 30_000)) slots.take(target)(false)
  // The first of them is forgotten and counts as new, the last is not.
  expect(slots.freeAt(['t0'])).toEqual([{ target: 't0', most: 8 }])
  expect(slots.freeAt(['t29999'])).toEqual([{ target: 't29999', most: 1 }])
  held(false)
  expect(slots.inFlight).toBe(0)
})
