import { test } from 'bun:test'
import { expectAgreement, expectEveryOutcome } from './both-stores.ts'

const STREAMS = Number(process.env.TEST_COMMANDS || 1000)

test(
  'random commands and queries: SQLite, PostgreSQL and the model agree',
  async () => expectEveryOutcome(await expectAgreement(STREAMS)),
  300_000,
)
