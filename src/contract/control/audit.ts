import { controlOperation } from '../operation.ts'
import { listing } from '../page.ts'
import { AuditEntry, exampleAuditEntry } from '../resources/audit.ts'
import { GivenTime } from '../resources/id.ts'
import { Type } from '../schema.ts'

/** Rows are written in the same transaction as the change and never altered; `strand audit verify` checks that. */
export const listAudit = controlOperation('GET /control/audit', {
  id: 'ListAudit',
  summary: 'List changes and who made them, newest first.',
  description:
    'Every change by an operator and every change of a fulfilment status is recorded. A call that changes the status of several entitlements is one entry that lists their ids. Calls that change nothing are not recorded.',
  query: Type.Object({
    actor: Type.Optional(Type.String({ description: 'Exact match, such as `operator/night-shift`.' })),
    operation: Type.Optional(Type.String({ description: 'Exact match, such as `DeleteUser`.' })),
    subject: Type.Optional(
      Type.String({
        description:
          'Exact match, such as `user/141981764`. An entitlement also matches the changes of several at once.',
      }),
    ),
    since: Type.Optional(GivenTime),
    until: Type.Optional(GivenTime),
  }),
  ...listing(AuditEntry),
  problems: ['refused_reference'],
  example: {
    query: { actor: exampleAuditEntry.actor, since: '2026-03-01T00:00:00Z' },
    answer: { data: [exampleAuditEntry], pagination: {} },
  },
})
