import { expect, test } from 'bun:test'
import { Unavailable } from '../../src/store/errors.ts'
import { Admission } from '../../src/store/sql/admission.ts'

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
