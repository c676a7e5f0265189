import { test } from 'bun:test'
import { engines } from '../support/server.ts'
import { expectExactCounts } from './follow-counts.ts'

test.each([...engines])('follow counts equal the follows on %s after 100 changes (D-93)', engine =>
  expectExactCounts(engine, 100),
)
