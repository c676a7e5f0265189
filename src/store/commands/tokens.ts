import { type Refusal, refuse } from '../../contract/problem.ts'
import type { Transaction } from '../database.ts'
import type { TokenKind } from '../queries/tokens.ts'
import { sql } from '../sql/tag.ts'
import { capAppTokens, capGrants, capTokensOfGrant } from './caps.ts'
import { endTokens } from './end-tokens.ts'
import { refuseUnknown } from './references.ts'
import { refuseSuspended } from './refuse-suspended.ts'

/** A token to be stored: its hash and what it grants. */
export interface NewToken {
  readonly hash: string
  readonly kind: TokenKind
  readonly client_id: string
  readonly user_id: string | null
  readonly scopes: readonly string[]
  /** Tokens derived from one another share a family, and are revoked together. */
  readonly family: string
  readonly expires_at: string
}

/** `mostGrants`: apply the caps, with this many grants of a user for a client and the usual number of app tokens. */
export async function issueTokens(
  tx: Transaction,
  args: { tokens: readonly NewToken[]; mostGrants?: number | undefined },
): Promise<Refusal<'unknown_reference' | 'user_suspended'> | undefined> {
  const unknown = await refuseUnknown(tx, {
    client: args.tokens.map(token => token.client_id),
    user: args.tokens.map(token => token.user_id),
  })
  if (unknown !== undefined) return unknown
  const users = args.tokens.flatMap(({ user_id }) => user_id ?? [])
  const suspended = await refuseSuspended(tx, [...new Set(users)])
  if (suspended !== undefined) return suspended
  for (const token of args.tokens) await insertToken(tx, token)
  const { mostGrants } = args
  if (mostGrants !== undefined) for (const token of args.tokens) await capIssued(tx, token, mostGrants)
  for (const family of new Set(args.tokens.map(token => token.family))) recordIssue(tx, args.tokens, family)
  return undefined
}

async function capIssued(tx: Transaction, token: NewToken, mostGrants: number): Promise<void> {
  const { kind, user_id, client_id, family } = token
  if (kind === 'app') await capAppTokens(tx, token)
  else if (user_id !== null) await capGrants(tx, { user_id, client_id, family }, mostGrants)
}

/** Tokens issued together are recorded as one entry, by family: what they grant and until when. */
function recordIssue(tx: Transaction, issued: readonly NewToken[], family: string): void {
  const tokens = issued.filter(token => token.family === family)
  const [first] = tokens
  if (first === undefined) return
  const { client_id, user_id, scopes } = first
  const ends = tokens.map(({ kind, expires_at }) => ({ kind, expires_at }))
  tx.record({ subject: `token/${family}`, after: { client_id, user_id, scopes, tokens: ends } })
}

/** The part of a new token that is known before the refresh token is read. */
export type Successor = Pick<NewToken, 'hash' | 'expires_at'>

/**
 * Exchanges a refresh token. A confidential client keeps its refresh token. A public client gets a new one and the old one
 * is marked as used: presenting it again shows that it was copied, and revokes the whole family.
 */
export async function useRefreshToken(
  tx: Transaction,
  args: {
    hash: string
    client_id: string
    now: string
    access: Successor
    /** For public clients: the next refresh token. */
    refresh?: Successor | undefined
  },
): Promise<{ scopes: string[] } | Refusal<'invalid_refresh_token'>> {
  await tx.lock(sql`select hash from tokens where hash = ${args.hash}`, 'tokens')
  const held = await tx.get<{
    user_id: string
    scopes: string
    family: string
    expires_at: string
    used_at: string | null
  }>(
    sql`select user_id, scopes, family, expires_at, used_at from tokens
        where hash = ${args.hash} and kind = 'refresh' and client_id = ${args.client_id}`,
  )
  if (held === undefined || held.expires_at <= args.now) return refuse('invalid_refresh_token')
  if (held.used_at !== null) {
    await endTokens(tx, sql`family = ${held.family}`)
    return refuse('invalid_refresh_token')
  }
  const scopes = JSON.parse(held.scopes) as string[]
  const shared = { client_id: args.client_id, user_id: held.user_id, scopes, family: held.family }
  if (args.refresh !== undefined) {
    await tx.run(sql`update tokens set used_at = ${args.now} where hash = ${args.hash}`)
    await insertToken(tx, { ...shared, ...args.refresh, kind: 'refresh' })
  }
  await insertToken(tx, { ...shared, ...args.access, kind: 'user' })
  await capTokensOfGrant(tx, { hash: args.access.hash, family: held.family })
  return { scopes }
}

/**
 * Revokes a token; with `client_id`, only if it belongs to that client and has not expired. Revoking a refresh token revokes
 * its family, which an expired one must not be able to do.
 */
export async function revokeToken(
  tx: Transaction,
  args: { hash: string } | { hash: string; client_id: string; now: string },
): Promise<Refusal<'token_not_found'> | undefined> {
  await tx.lock(sql`select hash from tokens where hash = ${args.hash}`, 'tokens')
  const held = await tx.get<{ kind: TokenKind; client_id: string; user_id: string | null; family: string }>(
    'client_id' in args
      ? sql`select kind, client_id, user_id, family from tokens
            where hash = ${args.hash} and client_id = ${args.client_id} and expires_at > ${args.now}`
      : sql`select kind, client_id, user_id, family from tokens where hash = ${args.hash}`,
  )
  if (held === undefined) return refuse('token_not_found')
  await endTokens(tx, held.kind === 'refresh' ? sql`family = ${held.family}` : sql`hash = ${args.hash}`)
  const { family, ...before } = held
  tx.record({ subject: `token/${family}`, before })
  return undefined
}

export async function insertToken(tx: Transaction, token: NewToken): Promise<void> {
  await tx.run(
    sql`insert into tokens (hash, kind, client_id, user_id, scopes, family, expires_at)
        values (${token.hash}, ${token.kind}, ${token.client_id}, ${token.user_id}, ${JSON.stringify(token.scopes)},
          ${token.family}, ${token.expires_at})`,
  )
}
