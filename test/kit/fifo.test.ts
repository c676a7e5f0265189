import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Fifo } from '../../src/kit/queues/fifo.ts'

test('has the items of an array that is pushed to, shifted and searched', () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 5, arbitrary: fc.constant('push' as const) },
      { weight: 4, arbitrary: fc.constant('shift' as const) },
      { weight: 1, arbitrary: fc.nat(20) },
    ),
    { maxLength: 200 },
  )
  fc.assert(
    fc.property(steps, taken => {
      const [fifo, model] = [new Fifo<{ n: number }>(), [] as { n: number }[]]
      const gone = { n: -1 }
      for (const [n, step] of taken.entries()) {
        if (step === 'push') {
          const item = { n }
          fifo.push(item)
          model.push(item)
        } else if (step === 'shift') expect(fifo.shift()).toBe(model.shift() as { n: number })
        else {
          const item = model[step] ?? gone
          expect(fifo.remove(item)).toBe(item !== gone)
          if (item !== gone) model.splice(step, 1)
        }
        expect([fifo.length, fifo.first]).toEqual([model.length, model[0]])
      }
    }),
  )
})

test('keeps its order over thousands of items', () => {
  const fifo = new Fifo<number>()
  for (let n = 1; n <= 5000; n++) fifo.push(n)
  expect(fifo.remove(4000)).toBe(true)
  const taken = Array.from({ length: 4999 }, () => fifo.shift())
  expect(taken).toEqual(Array.from({ length: 5000 }, (_, n) => n + 1).filter(n => n !== 4000))
  expect([fifo.length, fifo.shift()]).toEqual([0, undefined])
})
