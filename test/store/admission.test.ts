import { expect, test } from 'bun:test'
import { Admission } from '../../src/store/engines/admission.ts'
import { Unavailable } from '../../src/store/errors.ts'

test('so many are inside at a time, and the others come in the order of their coming', async () => {
  const admission = new Admission(2, 1000)
  const [inside, order]: [Set<number>, number[]] = [new Set(), []]
  let most = 0
  await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      admission.run(async () => {
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

test('whoever waits too long is sent away, and takes no place later', async () => {
  const admission = new Admission(1, 20)
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = admission.run(() => promise)
  let ran = false
  const second = admission.run(async () => {
    ran = true
  })
  expect(await second.catch(error => error)).toBeInstanceOf(Unavailable)
  resolve()
  await first
  expect(await admission.run(async () => 'in')).toBe('in')
  expect(ran).toBe(false)
})

test('a failure gives the place back', async () => {
  const admission = new Admission(1, 20)
  const failing = admission.run(() => Promise.reject(new Error('no')))
  expect(await failing.catch(error => error.message)).toBe('no')
  expect(await admission.run(async () => 1)).toBe(1)
})

test('whoever is urgent goes first, and fewer places are not taken from anybody', async () => {
  const admission = new Admission(2, 1000)
  const order: string[] = []
  const gates = ['a', 'b', 'c', 'd'].map(name => ({ name, ...Promise.withResolvers<void>() }))
  const [a, b, c, d] = gates.map(({ name, promise }) =>
    admission.run(
      async () => {
        order.push(name)
        await promise
      },
      { urgent: name === 'd' },
    ),
  )
  expect([order, admission.waiting]).toEqual([['a', 'b'], 2])
  admission.resize(1)
  gates[0]?.resolve()
  await a
  expect([order, admission.running]).toEqual([['a', 'b'], 1])
  gates[1]?.resolve()
  await b
  await Bun.sleep(0)
  expect(order).toEqual(['a', 'b', 'd'])
  admission.resize(2)
  await Bun.sleep(0)
  expect(order).toEqual(['a', 'b', 'd', 'c'])
  for (const gate of gates) gate.resolve()
  await Promise.all([c, d])
  expect(admission.running).toBe(0)
})

test('a line that is too long is not made longer', async () => {
  const admission = new Admission(1, 60_000)
  const { promise, resolve } = Promise.withResolvers<void>()
  const all = Array.from({ length: 6000 }, () => admission.run(() => promise))
  const refused = all.map(each =>
    each.then(
      () => false,
      error => error instanceof Unavailable,
    ),
  )
  expect(admission.waiting).toBe(5000)
  resolve()
  expect((await Promise.all(refused)).filter(Boolean)).toHaveLength(999)
  expect(admission.refused).toBe(999)
})
