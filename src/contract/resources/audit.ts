import type { Static } from 'typebox'
import { Type } from '../schema.ts'
import { TimeMillis } from './id.ts'

/** A change that somebody made, as the audit log has it. */
export const AuditEntry = Type.Object({
  chain: Type.String({
    description:
      '`operator`, or the id of the organization whose entitlements were changed; with `/1` and so on behind it where many wrote at once.',
  }),
  seq: Type.Integer({ minimum: 1, description: 'Numbers of a chain have no gaps.' }),
  at: TimeMillis,
  actor: Type.String({
    description:
      '`operator`, `operator/<name>`, `client/<client_id>`, `client/<client_id>/user/<user_id>`, or `strand` for the command.',
  }),
  operation: Type.String(),
  subject: Type.String({ description: 'What was changed, such as `game/33214`.' }),
  before: Type.Unknown({ description: 'How it was; null if it did not exist.' }),
  after: Type.Unknown({ description: 'How it is; null if it no longer exists. Secrets are `"changed"`.' }),
  hash: Type.String({ description: 'SHA-256 of the row and the hash in front of it, in hex.' }),
})
export type AuditEntry = Static<typeof AuditEntry>

export const exampleAuditEntry: AuditEntry = {
  chain: 'operator',
  seq: 17,
  at: '2026-03-01T12:00:00.250Z',
  actor: 'operator/night-shift',
  operation: 'PutGame',
  subject: 'game/33214',
  before: { id: '33214', name: 'Tidefal', organization_id: null },
  after: { id: '33214', name: 'Tidefall', organization_id: null },
  hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
}
