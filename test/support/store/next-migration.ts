import type { Migration } from '../../../src/store/schema/index.ts'

/** What a coming release might bring: a column and an index on a table that has many rows by then. */
export const nextMigration: Migration = {
  additive: true,
  text: ({ key }) => `
alter table organization_entitlements add column if not exists note ${key};
create index if not exists entitlements_by_note on organization_entitlements (note, timestamp, id);
`,
}
