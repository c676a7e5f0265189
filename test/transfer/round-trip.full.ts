/** A longer run: TEST_WORLDS=25 */
import { describe, test } from 'bun:test'
import { expectRoundTrips, ways } from './round-trip.ts'

const WORLDS = Number(process.env.TEST_WORLDS || 12)

describe.each(ways)('from %s to %s', (from, to) => {
  test('any world comes out as it went in', () => expectRoundTrips([from, to], WORLDS), 300_000)
})
