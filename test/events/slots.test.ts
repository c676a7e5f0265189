import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Slots } from '../../src/events/slots.ts'

const LIMITS = { ofTarget: 8, total: 256 }
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`)

test('a target has 8 slots', () => {
  const slots = new Slots(LIMITS)
  expect(slots.freeAt(['a', 'b'], 0)).toEqual([
    { target: 'a', most: 8 },
    { target: 'b', most: 8 },
  ])
  const [first, ...others] = Array.from({ length: 8 }, () => slots.take('a', 's', 0))
  expect(slots.freeAt(['a', 'b'], 0)).toEqual([{ target: 'b', most: 8 }])
  first?.(true)
  expect(slots.freeAt(['a'], 0)).toEqual([{ target: 'a', most: 1 }])
  for (const giveBack of others) giveBack(true)
  expect(slots.freeAt(['a'], 0)).toEqual([{ target: 'a', most: 8 }])
  expect(slots.inFlight).toBe(0)
})

test('a subscription that fails gets one request at a time, beside the others of its target', () => {
  const slots = new Slots(LIMITS)
  slots.take('a', 'fails', 0)(false)
  expect(slots.freeAt(['a'], 0)).toEqual([
    { target: 'a', most: 1, oneOfEach: ['fails'] },
    { target: 'a', most: 7, except: ['fails'] },
  ])
  const again = slots.take('a', 'fails', 0)
  expect(slots.freeAt(['a'], 0)).toEqual([{ target: 'a', most: 7, except: ['fails'] }])
  again(true)
  expect(slots.freeAt(['a'], 0)).toEqual([{ target: 'a', most: 8 }])
})

test('subscriptions that fail use at most half of the slots of their target', () => {
  const slots = new Slots(LIMITS)
  for (const id of names('fails', 10)) slots.take('a', id, 0)(false)
  const [retried, others] = slots.freeAt(['a'], 0)
  expect([retried?.most, retried?.oneOfEach?.length, others?.most]).toEqual([4, 10, 4])
  for (const id of names('fails', 4)) slots.take('a', id, 0)
  expect(slots.freeAt(['a'], 0)).toEqual([{ target: 'a', most: 4, except: names('fails', 10) }])
})

test('a subscription with a request that takes long gets no further one', () => {
  const slots = new Slots(LIMITS)
  const slow = slots.take('a', 'slow', 0)
  expect(slots.freeAt(['a'], 900)).toEqual([{ target: 'a', most: 7 }])
  expect(slots.freeAt(['a'], 1100)).toEqual([{ target: 'a', most: 7, except: ['slow'] }])
  slow(true)
  expect(slots.freeAt(['a'], 1100)).toEqual([{ target: 'a', most: 8 }])
})

test('targets that hang leave half of all slots to those that have taken a message', () => {
  const slots = new Slots(LIMITS)
  slots.take('proven', 's', 0)(true)
  for (const { target, most } of slots.freeAt(names('hangs', 1000), 0))
    for (let n = 0; n < most; n++) slots.take(target, 's', 0)
  expect(slots.inFlight).toBe(128)
  expect(slots.freeAt(['another', 'proven'], 0)).toEqual([{ target: 'proven', most: 8 }])
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
          for (const { target: name, most } of slots.freeAt([`t${target}`], 0))
            for (let n = 0; n < most; n++) running.push({ target: name, end: slots.take(name, `s${n}`, 0) })
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
  const held = slots.take('held', 's', 0)
  for (const target of names('t', 30_000)) slots.take(target, 's', 0)(false)
  // The first of them is forgotten and counts as new, the last is not.
  expect(slots.freeAt(['t0'], 0)).toEqual([{ target: 't0', most: 8 }])
  expect(slots.freeAt(['t29999'], 0)).toHaveLength(2)
  held(false)
  expect(slots.inFlight).toBe(0)
})
