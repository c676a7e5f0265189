import { describe, test } from 'bun:test'
import { expectRoundTrips, ways } from './round-trip.ts'

describe.each(ways)('from %s to %s', (from, to) => {
  test('any world comes out as it went in', () => expectRoundTrips([from, to], 25), 300_000)
})
