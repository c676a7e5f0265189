import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Admission, HOST_SLOTS, QUICK_HOST_SLOTS } from '../../src/domain/events/webhook-room.ts'
import { Slots } from '../../src/events/slots.ts'

/** A request that was answered after a while. */
const LATE = { isAnswered: true, now: 500 }
const LIMITS = { notifications: 256, verifications: 64 }
const queues = (host: string, lane: string) => ({ host: `webhook:${host}`, lane })
const verification = (client: string) => ({ host: `verification:${client}`, lane: `verification:${client}` })
const admission = (slots: Slots, now = 0) => new Admission(slots.room(now))

/** Sends as many messages of a lane as there are places for. */
function fill(slots: Slots, sent: ReturnType<typeof queues>, isFailing = false): number {
  const room = admission(slots)
  let count = 0
  for (; room.take(sent, isFailing) === undefined; count++) slots.take(sent, isFailing, 0)
  return count
}

test('a host has 8 slots, and what is over waits in its queue', () => {
  const slots = new Slots(LIMITS)
  const room = admission(slots)
  const freed = Array.from({ length: HOST_SLOTS }, () => {
    expect(room.take(queues('a', 's'), false)).toBeUndefined()
    return slots.take(queues('a', 's'), false, 0)
  })
  expect(room.take(queues('a', 's'), false)).toBe('webhook:a')
  expect(room.take(queues('b', 's2'), false)).toBeUndefined()
  expect(admission(slots).most('webhook:a', false)).toBe(0)
  freed[0]?.(LATE)
  expect(admission(slots).most('webhook:a', false)).toBe(1)
  for (const free of freed.slice(1)) free(LATE)
  expect(slots.inFlight).toBe(0)
})

test('a host that answers quickly has 32 slots until an answer is late or missing', () => {
  const slots = new Slots(LIMITS)
  const answer = (host: string, end: { isAnswered: boolean; now: number }) =>
    slots.take(queues(host, 's'), false, 0)(end)
  const room = (host: string) => admission(slots).most(`webhook:${host}`, false)
  expect(room('a')).toBe(HOST_SLOTS)
  for (const end of [LATE, { isAnswered: false, now: 10 }]) {
    answer('a', { isAnswered: true, now: 10 })
    expect(room('a')).toBe(QUICK_HOST_SLOTS)
    answer('a', end)
    expect(room('a')).toBe(HOST_SLOTS)
  }
  for (let n = 0; n < 65; n++) answer(`h${n}`, { isAnswered: true, now: 10 })
  expect([room('h0'), room('h1'), room('h64')]).toEqual([HOST_SLOTS, QUICK_HOST_SLOTS, QUICK_HOST_SLOTS])
  slots.take(verification('one'), false, 0)({ isAnswered: true, now: 10 })
  expect(admission(slots).most(verification('one').host, false)).toBe(HOST_SLOTS)
})

test('a subscription that fails gets one request at a time, beside the others of its host', () => {
  const slots = new Slots(LIMITS)
  const room = admission(slots)
  expect(room.take(queues('a', 'fails'), true)).toBeUndefined()
  expect(room.take(queues('a', 'fails'), true)).toBe('fails')
  expect(room.take(queues('a', 'other'), false)).toBeUndefined()
  expect(room.most('fails', true)).toBe(0)
})

test('subscriptions that fail use at most half of the slots of their host', () => {
  const room = admission(new Slots(LIMITS))
  const waits = Array.from({ length: 6 }, (_, n) => room.take(queues('a', `fails ${n}`), true))
  expect(waits).toEqual([undefined, undefined, undefined, undefined, 'webhook:a', 'webhook:a'])
  expect(room.take(queues('a', 'healthy'), false)).toBeUndefined()
})

test('a subscription with a request that takes long gets no further one', () => {
  const slots = new Slots(LIMITS)
  const free = slots.take(queues('a', 'slow'), false, 0)
  expect(admission(slots, 900).take(queues('a', 'slow'), false)).toBeUndefined()
  expect(admission(slots, 1100).take(queues('a', 'slow'), false)).toBe('slow')
  expect(admission(slots, 1100).take(queues('a', 'other'), false)).toBeUndefined()
  free(LATE)
  expect(admission(slots, 1100).take(queues('a', 'slow'), false)).toBeUndefined()
})

test('what fails leaves half of all slots to what does not', () => {
  const slots = new Slots(LIMITS)
  for (let n = 0; n < 300; n++) fill(slots, queues(`host ${n}`, `lane ${n}`), true)
  expect(slots.inFlight).toBe(128)
  expect(fill(slots, queues('healthy', 's'))).toBe(HOST_SLOTS)
})

test('verifications take no slot of notifications, and a client has 8 of them, or one if they fail', () => {
  const slots = new Slots(LIMITS)
  expect(fill(slots, verification('one'))).toBe(HOST_SLOTS)
  expect(fill(slots, verification('fails'), true)).toBe(1)
  for (let n = 0; n < 100; n++) fill(slots, verification(`fails ${n}`), true)
  expect(fill(slots, verification('another'))).toBe(HOST_SLOTS)
  for (let n = 0; n < 100; n++) fill(slots, verification(`client ${n}`))
  expect(slots.inFlight).toBe(LIMITS.verifications)
  expect(slots.isFull).toBe(false)
  expect(fill(slots, queues('host', 's'))).toBe(HOST_SLOTS)
})

test('limits hold whatever the order of requests and their ends', () => {
  const steps = fc.array(
    fc.record({ host: fc.integer({ min: 0, max: 60 }), ends: fc.boolean(), fails: fc.boolean() }),
  )
  fc.assert(
    fc.property(steps, all => {
      const slots = new Slots({ notifications: 20, verifications: 0 })
      const running: { host: string; end: ReturnType<Slots['take']> }[] = []
      for (const { host, ends, fails } of all) {
        if (ends) running.shift()?.end(LATE)
        else
          for (let n = 0; n < 3; n++) {
            const sent = queues(`h${host}`, `${host} ${n}`)
            if (admission(slots).take(sent, fails) === undefined)
              running.push({ host: sent.host, end: slots.take(sent, fails, 0) })
          }
        const counts = Map.groupBy(running, each => each.host)
        for (const each of counts.values()) expect(each.length).toBeLessThanOrEqual(HOST_SLOTS)
        expect(slots.inFlight).toBe(running.length)
        expect(slots.inFlight).toBeLessThanOrEqual(20)
      }
    }),
  )
})
