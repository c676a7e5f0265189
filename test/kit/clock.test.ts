import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isoMillis } from '../../src/kit/time/clock.ts'
import { isUuid, uuidBytes, uuidText } from '../../src/kit/uuid.ts'

/** From year -1000 to 11000. */
const [FIRST, LAST] = [-93_724_128_000_000, 284_959_123_200_000]

test('times are written as the runtime writes them, whatever came before', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: FIRST, max: LAST })), times => {
      for (const time of times)
        for (const near of [time, time + 1, time + 86_399_999, time + 0.5])
          expect(isoMillis(near)).toBe(new Date(near).toISOString())
    }),
  )
  for (const edge of [0, -1, 253_402_300_799_999, 253_402_300_800_000])
    expect(isoMillis(edge)).toBe(new Date(edge).toISOString())
  expect(() => isoMillis(Number.NaN)).toThrow(RangeError)
})

test('UUIDs are written from their bytes', () => {
  fc.assert(
    fc.property(fc.uuid(), uuid => {
      expect(uuidText(Buffer.from(uuid.replaceAll('-', ''), 'hex'))).toBe(uuid)
      expect(uuidText(uuidBytes(uuid))).toBe(uuid)
      expect(isUuid(uuid)).toBe(true)
      expect(isUuid(`${uuid} `)).toBe(false)
    }),
  )
  expect(isUuid('FB78259E-FB81-4D1B-8333-34A06FFC24C0')).toBe(false)
})
