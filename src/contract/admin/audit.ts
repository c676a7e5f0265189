import { listAudit } from '../control/audit.ts'
import { action, type Resource } from './resource.ts'

const list = action(
  'list',
  listAudit,
  ['', '--operation PutUser --since 2026-03-01T00:00:00Z --all --json'],
  { columns: ['at', 'actor', 'operation', 'subject'] },
)

export const audit: Resource = {
  nouns: [{ words: 'audit', meaning: 'the audit log', actions: [list] }],
  tables: [
    {
      path: 'audit',
      title: 'Audit log',
      one: 'change',
      group: 'System',
      list: listAudit,
      key: 'hash',
      name: 'operation',
      columns: ['at', 'actor', 'operation', 'subject', 'chain', 'seq'],
      empty: 'Nothing has been changed yet.',
    },
  ],
}
