import { expect, test } from 'bun:test'
import { BoundedQueue, FirstComeLine } from '../../src/kit/queues/bounded-queue.ts'

class Refused extends Error {}

const createQueue = (places: number, maxWaitMilliseconds: number) =>
  new BoundedQueue({
    places,
    line: new FirstComeLine(5000),
    maxWaitMilliseconds,
    refusal: reason => new Refused(reason),
  })

test('so many run at a time, and the others start in the order in which they came', async () => {
  const queue = createQueue(2, 1000)
  const [inside, order]: [Set<number>, number[]] = [new Set(), []]
  let most = 0
  await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      queue.run({}, async () => {
        inside.add(n)
        order.push(n)
        most = Math.max(most, inside.size)
        await Bun.sleep(1)
        inside.delete(n)
      }),
    ),
  )
  expect(most).toBe(2)
  expect(order).toEqual(order.toSorted((a, b) => a - b))
})

test('work that waits too long is refused, and takes no place later', async () => {
  const queue = createQueue(1, 20)
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = queue.run({}, () => promise)
  let ran = false
  const second = queue.run({}, async () => {
    ran = true
  })
  expect(await second.catch(error => error)).toBeInstanceOf(Refused)
  resolve()
  await first
  expect(await queue.run({}, async () => 'in')).toBe('in')
  expect(ran).toBe(false)
})

test('a failure gives the place back', async () => {
  const queue = createQueue(1, 20)
  const failing = queue.run({}, () => Promise.reject(new Error('no')))
  expect(await failing.catch(error => error.message)).toBe('no')
  expect(await queue.run({}, async () => 1)).toBe(1)
})

test('urgent work goes first, and fewer places interrupt no running work', async () => {
  const queue = createQueue(2, 1000)
  const order: string[] = []
  const gates = ['a', 'b', 'c', 'd'].map(name => ({ name, ...Promise.withResolvers<void>() }))
  const [a, b, c, d] = gates.map(({ name, promise }) =>
    queue.run({ urgent: name === 'd' }, async () => {
      order.push(name)
      await promise
    }),
  )
  expect([order, queue.waiting]).toEqual([['a', 'b'], 2])
  queue.resize(1)
  gates[0]?.resolve()
  await a
  expect([order, queue.running]).toEqual([['a', 'b'], 1])
  gates[1]?.resolve()
  await b
  await Bun.sleep(0)
  expect(order).toEqual(['a', 'b', 'd'])
  queue.resize(2)
  await Bun.sleep(0)
  expect(order).toEqual(['a', 'b', 'd', 'c'])
  for (const gate of gates) gate.resolve()
  await Promise.all([c, d])
  expect(queue.running).toBe(0)
})

test('a full line refuses what comes next', async () => {
  const queue = createQueue(1, 60_000)
  const { promise, resolve } = Promise.withResolvers<void>()
  const all = Array.from({ length: 6000 }, () => queue.run({}, () => promise))
  const refused = all.map(each =>
    each.then(
      () => false,
      error => error instanceof Refused,
    ),
  )
  expect(queue.waiting).toBe(5000)
  resolve()
  expect((await Promise.all(refused)).filter(Boolean)).toHaveLength(999)
  expect(queue.refused).toEqual({ full: 999, late: 0, abandoned: 0 })
})

test('a caller that is gone leaves the line, and its work never starts', async () => {
  const queue = createQueue(1, 60_000)
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = queue.run({}, () => promise)
  const gone = new AbortController()
  let ran = false
  const second = queue.run(
    {},
    async () => {
      ran = true
    },
    { signal: gone.signal },
  )
  gone.abort()
  expect(await second.catch(error => error)).toBeInstanceOf(Refused)
  expect(await queue.run({}, async () => 1, { signal: gone.signal }).catch(error => error)).toBeInstanceOf(
    Refused,
  )
  resolve()
  await first
  expect([ran, queue.waiting, queue.running, queue.refused.abandoned]).toEqual([false, 0, 0, 2])
})
