/**
 * Caps on the rows that anonymous callers and ordinary users can create. A request above a cap succeeds and evicts the
 * caller's oldest rows, so filling a table cannot lock others out. SECURITY.md lists which route writes what, and a test
 * sends each of them more than its cap.
 */
import type { Transaction } from '../database.ts'
import { isOneOf, type Sql, sql, verbatim } from '../sql/tag.ts'
import { after, CAPS } from './cap-sizes.ts'
import { endTokens } from './end-tokens.ts'

export async function capDeviceCodes(
  tx: Transaction,
  added: { readonly hash: string; readonly client_id: string; readonly network: string },
): Promise<void> {
  const { hash, client_id, network } = added
  const excess = sql`
    select hash from (
      select hash from device_codes where network = ${network} and hash <> ${hash}
      order by expires_at desc, hash desc${after(CAPS.deviceCodesOfNetwork)}) of_network
    union select hash from (
      select hash from device_codes where client_id = ${client_id} and hash <> ${hash}
      order by expires_at desc, hash desc${after(CAPS.deviceCodesOfClient)}) of_client`
  await removeRows(tx, 'device_codes', excess)
}

export async function capCodes(
  tx: Transaction,
  added: { readonly hash: string; readonly user_id: string; readonly client_id: string },
): Promise<void> {
  const excess = sql`select hash from authorization_codes
    where user_id = ${added.user_id} and client_id = ${added.client_id} and hash <> ${added.hash}
    order by expires_at desc, hash desc${after(CAPS.codesOfUserAndClient)}`
  await removeRows(tx, 'authorization_codes', excess)
}

export async function capSessions(
  tx: Transaction,
  added: { readonly hash: string; readonly user_id: string },
): Promise<void> {
  const excess = sql`select hash from sessions where user_id = ${added.user_id} and hash <> ${added.hash}
    order by seen_at desc, hash desc${after(CAPS.sessionsOfUser)}`
  const removed = await removeRows(tx, 'sessions', excess)
  // The tokens of the site end with their session.
  if (removed > 0) tx.publish({ kind: 'access', access: { user_id: added.user_id } })
}

export async function capAppTokens(
  tx: Transaction,
  added: { readonly hash: string; readonly client_id: string },
): Promise<void> {
  const excess = sql`select hash from tokens
    where client_id = ${added.client_id} and kind = 'app' and hash <> ${added.hash}
    order by expires_at desc, hash desc${after(CAPS.appTokensOfClient)}`
  await removeRows(tx, 'tokens', excess)
}

/** Caps the tokens of one grant after an access token was added. */
export async function capTokensOfGrant(
  tx: Transaction,
  added: { readonly hash: string; readonly family: string },
): Promise<void> {
  const excess = sql`
    select hash from (
      select hash from tokens where family = ${added.family} and kind = 'user' and hash <> ${added.hash}
      order by expires_at desc, hash desc${after(CAPS.accessTokensOfGrant)}) access
    union select hash from (
      select hash from tokens where family = ${added.family} and kind = 'refresh' and used_at is not null
      order by used_at desc, hash desc${after(CAPS.usedRefreshTokensOfGrant + 1)}) used`
  await removeRows(tx, 'tokens', excess)
}

/** Caps the grants of a user for a client after one was added. Family names increase with time. */
export async function capGrants(
  tx: Transaction,
  added: { readonly user_id: string; readonly client_id: string; readonly family: string },
  most: number = CAPS.grantsOfUserAndClient,
): Promise<void> {
  const ended = await tx.all<{ family: string }>(
    sql`select family from tokens
        where user_id = ${added.user_id} and client_id = ${added.client_id} and family <> ${added.family}
        group by family order by family desc${after(most)}`,
  )
  if (ended.length === 0) return
  const families = ended.map(row => row.family)
  await removeRows(tx, 'tokens', sql`select hash from tokens where ${isOneOf(sql`family`, families)}`)
}

/** Deletes the rows with these hashes, and returns their number. Always locks in hash order, so that concurrent commands cannot deadlock. */
async function removeRows(
  tx: Transaction,
  table: 'device_codes' | 'authorization_codes' | 'sessions' | 'tokens',
  excess: Sql,
): Promise<number> {
  const rows = await tx.all<{ hash: string }>(excess)
  if (rows.length === 0) return 0
  const hashes = rows.map(row => row.hash)
  const these = sql`${isOneOf(sql`hash`, hashes)}`
  await tx.lock(sql`select hash from ${verbatim(table)} where ${these} order by hash`, table)
  if (table === 'tokens') await endTokens(tx, these)
  else await tx.run(sql`delete from ${verbatim(table)} where ${these}`)
  return rows.length
}
