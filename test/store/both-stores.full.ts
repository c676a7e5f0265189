import { test } from 'bun:test'
import { expectAgreement, expectEveryOutcome } from './both-stores.ts'

test(
  'random commands and queries: SQLite, PostgreSQL and the model agree',
  async () => expectEveryOutcome(await expectAgreement(1000)),
  300_000,
)
