import { operator } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { pageOf } from '../page.ts'
import { AuditEntry, exampleAuditEntry } from '../resources/audit.ts'
import { GivenTime } from '../resources/id.ts'
import { Type } from '../schema.ts'

/** Who changed what. Rows are written with the change and never altered; `strand audit verify` proves that they were not. */
export const listAudit = defineOperation('GET /control/audit', {
  id: 'ListAudit',
  summary: 'Lists what was changed and by whom, newest first.',
  description:
    'Every change by an operator and every change of a fulfilment status leaves a row. A call that changes nothing leaves none.',
  access: operator,
  query: Type.Object({
    actor: Type.Optional(Type.String({ description: 'Such as `operator/night-shift`; the whole of it.' })),
    operation: Type.Optional(Type.String({ description: 'Such as `DeleteUser`.' })),
    subject: Type.Optional(Type.String({ description: 'Such as `user/141981764`; the whole of it.' })),
    since: Type.Optional(GivenTime),
    until: Type.Optional(GivenTime),
  }),
  page: { standard: 20, before: false },
  returns: pageOf(AuditEntry),
  problems: ['refused_reference'],
  example: {
    query: { actor: exampleAuditEntry.actor, since: '2026-03-01T00:00:00Z' },
    answer: { data: [exampleAuditEntry], pagination: {} },
  },
})
