import { expect, test } from 'bun:test'
import { lazy } from '../../src/kit/lazy.ts'

test('what is made when first asked for is made once, and a failure is not kept', () => {
  let made = 0
  const value = lazy(() => {
    made += 1
    if (made === 1) throw new Error('not yet')
    return { made }
  })
  expect(value).toThrow('not yet')
  expect(value()).toBe(value())
  expect(made).toBe(2)
})
