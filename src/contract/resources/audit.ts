import type { Static } from 'typebox'
import { resource, Type } from '../schema.ts'
import { TimeMillis } from './id.ts'

/** One change in the audit log. */
export const AuditEntry = resource('AuditEntry', 'One change in the audit log.', {
  chain: Type.String({
    description:
      '`operator`, `user` for changes by users to what belongs to them, or the id of the organization whose entitlements changed, with a suffix such as `/1` if several writers were concurrent.',
  }),
  seq: Type.Integer({ minimum: 1, description: 'Without gaps within a chain.' }),
  at: TimeMillis,
  actor: Type.String({
    description:
      '`operator`, `operator/<name>`, `user/<user_id>`, `client/<client_id>`, `client/<client_id>/user/<user_id>`, or `strand` for the command line.',
  }),
  operation: Type.String(),
  subject: Type.String({ description: 'The changed resource, such as `game/33214`.' }),
  before: Type.Unknown({ description: 'The previous state; null if it did not exist.' }),
  after: Type.Unknown({
    description: 'The new state; null if it was deleted. Secrets are shown as `"changed"`.',
  }),
  hash: Type.String({ description: 'SHA-256 of the row and the previous hash, in hex.' }),
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
