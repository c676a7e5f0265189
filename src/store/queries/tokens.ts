import type { Database } from '../database.ts'
import { sql } from '../sql/tag.ts'
import { isNotStopped } from './clients.ts'

export type TokenKind = 'app' | 'user' | 'refresh'

/** A known token and what it grants. */
export interface KnownToken {
  readonly kind: TokenKind
  readonly client_id: string
  readonly organization_id: string | null
  readonly user_id: string | null
  readonly login: string | null
  readonly scopes: string
  readonly expires_at: string
}

export const tokenQueries = (db: Database) => ({
  /** Tokens are stored only as their SHA-256. Those of a suspended user, and of a stopped client, are unknown. */
  find: (hash: string) =>
    db.get<KnownToken>(
      sql`select t.kind, t.client_id, c.organization_id, t.user_id, u.login, t.scopes, t.expires_at
          from tokens t
          join clients c on c.id = t.client_id
          left join users u on u.id = t.user_id
          where t.hash = ${hash} and u.suspended_at is null and ${isNotStopped('c')}`,
    ),
})
