import { type Refusal, refuse } from '../../contract/problem.ts'
import type { User } from '../../contract/resources/user.ts'
import { rememberedScopes } from '../../domain/oauth/scopes.ts'
import type { Transaction } from '../database.ts'
import { sql } from '../sql/tag.ts'
import { emitAuthorization } from './authorization-events.ts'
import { capCodes, capGrants } from './caps.ts'
import { endUnauthorizedSubscriptions } from './end-subscriptions.ts'
import { endTokens } from './end-tokens.ts'
import { refuseSuspended } from './refuse-suspended.ts'
import { insertToken, type NewToken, type Successor } from './tokens.ts'

/** An authorization code to be stored. */
export interface NewCode {
  readonly hash: string
  readonly client_id: string
  readonly user_id: string
  readonly redirect_uri: string
  /** The PKCE challenge, if the application sent one. */
  readonly challenge: string | null
  readonly scopes: readonly string[]
  /** The family of the tokens it will be exchanged for. */
  readonly family: string
  readonly expires_at: string
  /** Present with the scope `openid`: claims about this authorization for the ID token. */
  readonly openid?: OpenidRequest | undefined
}

interface OpenidRequest {
  readonly nonce: string | null
  /** When the user logged in. */
  readonly authenticated_at: string
}

/** Records a user's consent as a connection and stores the authorization code. */
export async function grantCode(tx: Transaction, args: { code: NewCode; now: string }): Promise<void> {
  const { code } = args
  if (!(await connect(tx, code, args.now))) return
  await tx.run(
    sql`insert into authorization_codes (hash, client_id, user_id, redirect_uri, challenge, scopes, family, nonce,
          authenticated_at, expires_at)
        values (${code.hash}, ${code.client_id}, ${code.user_id}, ${code.redirect_uri}, ${code.challenge},
          ${JSON.stringify(code.scopes)}, ${code.family}, ${code.openid?.nonce ?? null},
          ${code.openid?.authenticated_at ?? null}, ${code.expires_at})`,
  )
  await capCodes(tx, code)
}

/** The implicit grant: issues the token directly. */
export async function grantToken(
  tx: Transaction,
  args: { token: NewToken & { readonly user_id: string }; now: string },
): Promise<void> {
  if (!(await connect(tx, args.token, args.now))) return
  await insertToken(tx, args.token)
  await capGrants(tx, args.token)
}

/**
 * Records that a user has connected an application; previously allowed scopes stay allowed. False: the user has just been
 * suspended, and gets neither codes nor tokens.
 */
export async function connect(
  tx: Transaction,
  { user_id, client_id, scopes }: Pick<NewCode, 'user_id' | 'client_id' | 'scopes'>,
  now: string,
): Promise<boolean> {
  await tx.lock(sql`select id from users where id = ${user_id}`, 'users')
  if ((await refuseSuspended(tx, [user_id])) !== undefined) return false
  const before = await tx.get<{ scopes: string }>(
    sql`select scopes from connections where user_id = ${user_id} and client_id = ${client_id}`,
  )
  const allowed = rememberedScopes(before === undefined ? [] : JSON.parse(before.scopes), scopes)
  await tx.run(
    sql`insert into connections (user_id, client_id, scopes, created_at)
        values (${user_id}, ${client_id}, ${JSON.stringify(allowed)}, ${now})
        on conflict (user_id, client_id) do update set scopes = excluded.scopes`,
  )
  if (before === undefined) await emitAuthorization(tx, 'user.authorization.grant', { user_id, client_id })
  return true
}

/** The user of the tokens, as named in an ID token. */
type GrantingUser = Pick<User, 'id' | 'display_name'>

/** The result of exchanging a code or a device code: tokens of this user with these scopes. */
export interface Exchanged {
  readonly scopes: string[]
  readonly user: GrantingUser
  readonly openid?: OpenidRequest | undefined
}

/**
 * Exchanges a code for tokens, once. A second use with the right verifier and redirect URI means that the code was copied,
 * and revokes its tokens. Without them a second use proves nothing: codes remain in browser histories and logs, and finding
 * an old one there must not be enough to revoke tokens.
 */
export async function useCode(
  tx: Transaction,
  args: {
    hash: string
    client_id: string
    redirect_uri: string | undefined
    /** The challenge computed from the verifier in the request, if there was one. */
    answered: string | undefined
    now: string
    access: Successor
    refresh: Successor
  },
): Promise<Exchanged | Refusal<'invalid_code' | 'other_redirect' | 'wrong_verifier'>> {
  await tx.lock(sql`select hash from authorization_codes where hash = ${args.hash}`, 'authorization_codes')
  const code = await tx.get<{
    user_id: string
    display_name: string
    redirect_uri: string
    challenge: string | null
    scopes: string
    family: string
    expires_at: string
    used_at: string | null
    nonce: string | null
    authenticated_at: string | null
  }>(
    sql`select c.user_id, u.display_name, c.redirect_uri, c.challenge, c.scopes, c.family, c.expires_at, c.used_at,
          c.nonce, c.authenticated_at
        from authorization_codes c
        join users u on u.id = c.user_id and u.suspended_at is null
        where c.hash = ${args.hash} and c.client_id = ${args.client_id}`,
  )
  if (code === undefined) return refuse('invalid_code')
  const isSameRedirect = code.redirect_uri === args.redirect_uri
  const isRightVerifier = code.challenge === (args.answered ?? null)
  if (code.used_at !== null) {
    if (isSameRedirect && isRightVerifier) await endTokens(tx, sql`family = ${code.family}`)
    return refuse('invalid_code')
  }
  if (code.expires_at <= args.now) return refuse('invalid_code')
  if (!isSameRedirect) return refuse('other_redirect')
  if (!isRightVerifier) return refuse('wrong_verifier')

  await tx.run(sql`update authorization_codes set used_at = ${args.now} where hash = ${args.hash}`)
  const scopes = JSON.parse(code.scopes) as string[]
  const shared = { client_id: args.client_id, user_id: code.user_id, scopes, family: code.family }
  await insertToken(tx, { ...shared, ...args.access, kind: 'user' })
  await insertToken(tx, { ...shared, ...args.refresh, kind: 'refresh' })
  await capGrants(tx, shared)
  const { nonce, authenticated_at } = code
  return {
    scopes,
    user: { id: code.user_id, display_name: code.display_name },
    openid: authenticated_at === null ? undefined : { nonce, authenticated_at },
  }
}

/** Disconnects an application from a user: ends its tokens, and the codes that could be exchanged for new ones, at once. */
export async function disconnect(
  tx: Transaction,
  args: { user_id: string; client_id: string; now: number },
): Promise<void> {
  const { user_id, client_id } = args
  await tx.lock(sql`select id from users where id = ${user_id}`, 'users')
  const ended = await tx.run(
    sql`delete from connections where user_id = ${user_id} and client_id = ${client_id}`,
  )
  if (ended > 0) await emitAuthorization(tx, 'user.authorization.revoke', args)
  await tx.run(sql`delete from authorization_codes where user_id = ${user_id} and client_id = ${client_id}`)
  await tx.run(sql`delete from device_codes where user_id = ${user_id} and client_id = ${client_id}`)
  await endTokens(tx, sql`user_id = ${user_id} and client_id = ${client_id}`)
  await endUnauthorizedSubscriptions(tx, args)
}
