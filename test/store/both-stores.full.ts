import { test } from 'bun:test'
import { expectAgreement } from './both-stores.ts'

test(
  'random commands and queries: SQLite, PostgreSQL and the model agree',
  () => expectAgreement(1000),
  300_000,
)
