import { test } from 'bun:test'
import { expectAgreement } from './both-stores.ts'

test('random commands and queries: SQLite, PostgreSQL and the model agree', async () => {
  await expectAgreement(50)
}, 60_000)
