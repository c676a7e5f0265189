import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { occurring } from '../support/occurring.ts'

const letters = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', '\u0161'), minLength, maxLength })

test('one pass finds what a search for each finds', () => {
  fc.assert(
    fc.property(fc.array(letters(1, 8)), letters(0, 60), (wanted, text) => {
      expect(occurring(wanted, text)).toEqual(wanted.filter(each => text.includes(each)))
    }),
  )
})
