import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { occurring } from '../support/server/occurring.ts'

const letters = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', '\u0161'), minLength, maxLength })

const piece = fc.record({ from: fc.nat(200), length: fc.integer({ min: 1, max: 40 }) })

test('one pass finds what a search for each finds', () => {
  fc.assert(
    fc.property(letters(0, 200), fc.array(piece), fc.array(letters(1, 20)), (text, pieces, others) => {
      const parts = pieces.map(({ from, length }) => text.slice(from, from + length))
      const wanted = [...parts.filter(part => part !== ''), ...others]
      expect(occurring(wanted, text)).toEqual(wanted.filter(each => text.includes(each)))
    }),
    { numRuns: 500 },
  )
})
