import { type Refusal, refuse } from '../../contract/problem.ts'
import type { Transaction } from '../database.ts'
import type { TokenKind } from '../queries/tokens.ts'
import { sql } from '../sql/tag.ts'
import { capAppTokens, capGrants, capTokensOfGrant } from './caps.ts'
import { endTokens } from './end-tokens.ts'
import { refuseUnknown } from './references.ts'

/** A token on its way into the store: its hash and what it stands for. */
export interface NewToken {
  readonly hash: string
  readonly kind: TokenKind
  readonly client_id: string
  readonly user_id: string | null
  readonly scopes: readonly string[]
  /** Tokens that came from one another share a family, and fall together. */
  readonly family: string
  readonly expires_at: string
}

/** With `mostGrants` the caps apply: so many grants of a user for a client, and the usual number of app tokens. */
export async function issueTokens(
  tx: Transaction,
  args: { tokens: readonly NewToken[]; mostGrants?: number | undefined },
): Promise<Refusal<'unknown_reference'> | undefined> {
  const unknown = await refuseUnknown(tx, {
    client: args.tokens.map(token => token.client_id),
    user: args.tokens.map(token => token.user_id),
  })
  if (unknown !== undefined) return unknown
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

/** Tokens that were issued together are one entry: what they open and until when, under the name of their family. */
function recordIssue(tx: Transaction, issued: readonly NewToken[], family: string): void {
  const tokens = issued.filter(token => token.family === family)
  const [first] = tokens
  if (first === undefined) return
  const { client_id, user_id, scopes } = first
  const ends = tokens.map(({ kind, expires_at }) => ({ kind, expires_at }))
  tx.record({ subject: `token/${family}`, after: { client_id, user_id, scopes, tokens: ends } })
}

/** A successor as far as it is known before the refresh token has been looked at. */
export type Successor = Pick<NewToken, 'hash' | 'expires_at'>

/**
 * Exchanges a refresh token. A confidential client keeps its refresh token; a public client gets a new one and the old
 * one is spent: whoever presents a spent one reveals that it was copied, and the whole family ends.
 */
export async function useRefreshToken(
  tx: Transaction,
  args: {
    hash: string
    client_id: string
    now: string
    access: Successor
    /** Given for public clients: the refresh token that takes over. */
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
 * Ends a token; with `client_id`, only if it is that client's and has not run out: a refresh token takes its family along, and
 * one that opens nothing any more must not.
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
