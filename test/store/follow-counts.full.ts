/** A longer run: TEST_FOLLOWS=10000 */
import { test } from 'bun:test'
import { engines } from '../support/server.ts'
import { expectExactCounts } from './follow-counts.ts'

const CHANGES = Number(process.env.TEST_FOLLOWS || 3000)

test.each([...engines])(
  `follow counts equal the follows on %s after ${CHANGES} changes (D-93)`,
  engine => expectExactCounts(engine, CHANGES),
  600_000,
)
