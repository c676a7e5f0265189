/**
 * How much the store keeps of what strangers and ordinary users can make it keep. Whoever asks for more gets it, and the
 * oldest of their own makes room: nobody can shut others out by filling a table. SECURITY.md lists which route writes what,
 * and a test sends each of them more than its cap.
 */
import type { Transaction } from '../database.ts'
import { isOneOf, limitedTo, type Sql, sql, verbatim } from '../sql/tag.ts'
import { endTokens } from './end-tokens.ts'

export const CAPS = {
  /** Device codes asked for from one network. Most are abandoned: who types a code does so within minutes. */
  deviceCodesOfNetwork: 100,
  deviceCodesOfClient: 10_000,
  /** Authorization codes of a user for a client, used ones included. */
  codesOfUserAndClient: 100,
  /** Grants of a user for a client: a grant is a family of tokens that came from one consent. */
  grantsOfUserAndClient: 200,
  /** The same where a demo mints user tokens without asking anybody. */
  mintedGrantsOfUserAndClient: 1000,
  accessTokensOfGrant: 50,
  /** Refresh tokens that were used and are remembered, so that a second use is noticed. */
  usedRefreshTokensOfGrant: 50,
  appTokensOfClient: 2000,
  sessionsOfUser: 100,
} as const

/** Rows that one command removes at most, so that it stays short even where there were no caps before. */
const AT_ONCE = 200

/** Of a list, newest first and without the row that was just added, what is beyond its cap. */
const beyond = (cap: number): Sql => sql`${limitedTo(AT_ONCE)} offset cast(${cap - 1} as integer)`

export async function capDeviceCodes(
  tx: Transaction,
  added: { readonly hash: string; readonly client_id: string; readonly network: string },
): Promise<void> {
  const { hash, client_id, network } = added
  const excess = sql`
    select hash from (
      select hash from device_code_networks where network = ${network} and hash <> ${hash}
      order by expires_at desc, hash desc${beyond(CAPS.deviceCodesOfNetwork)}) of_network
    union select hash from (
      select hash from device_codes where client_id = ${client_id} and hash <> ${hash}
      order by expires_at desc, hash desc${beyond(CAPS.deviceCodesOfClient)}) of_client`
  await removeRows(tx, 'device_codes', excess)
}

export async function capCodes(
  tx: Transaction,
  added: { readonly hash: string; readonly user_id: string; readonly client_id: string },
): Promise<void> {
  const excess = sql`select hash from authorization_codes
    where user_id = ${added.user_id} and client_id = ${added.client_id} and hash <> ${added.hash}
    order by expires_at desc, hash desc${beyond(CAPS.codesOfUserAndClient)}`
  await removeRows(tx, 'authorization_codes', excess)
}

export async function capSessions(
  tx: Transaction,
  added: { readonly hash: string; readonly user_id: string },
): Promise<void> {
  const excess = sql`select hash from sessions where user_id = ${added.user_id} and hash <> ${added.hash}
    order by seen_at desc, hash desc${beyond(CAPS.sessionsOfUser)}`
  await removeRows(tx, 'sessions', excess)
}

export async function capAppTokens(
  tx: Transaction,
  added: { readonly hash: string; readonly client_id: string },
): Promise<void> {
  const excess = sql`select hash from tokens
    where client_id = ${added.client_id} and kind = 'app' and hash <> ${added.hash}
    order by expires_at desc, hash desc${beyond(CAPS.appTokensOfClient)}`
  await removeRows(tx, 'tokens', excess)
}

/** The tokens of one grant, after an access token was added to it. */
export async function capTokensOfGrant(
  tx: Transaction,
  added: { readonly hash: string; readonly family: string },
): Promise<void> {
  const excess = sql`
    select hash from (
      select hash from tokens where family = ${added.family} and kind = 'user' and hash <> ${added.hash}
      order by expires_at desc, hash desc${beyond(CAPS.accessTokensOfGrant)}) access
    union select hash from (
      select hash from tokens where family = ${added.family} and kind = 'refresh' and used_at is not null
      order by used_at desc, hash desc${beyond(CAPS.usedRefreshTokensOfGrant + 1)}) used`
  await removeRows(tx, 'tokens', excess)
}

/**
 * The grants of a user for a client, after one was added. Names of families rise with time; those from before they did are
 * version 4 UUIDs, and older than any other.
 */
export async function capGrants(
  tx: Transaction,
  added: { readonly user_id: string; readonly client_id: string; readonly family: string },
  most: number = CAPS.grantsOfUserAndClient,
): Promise<void> {
  const ended = await tx.all<{ family: string }>(
    sql`select family from tokens
        where user_id = ${added.user_id} and client_id = ${added.client_id} and family <> ${added.family}
        group by family order by substr(family, 15, 1) desc, family desc${beyond(most)}`,
  )
  if (ended.length === 0) return
  const families = ended.map(row => row.family)
  await removeRows(tx, 'tokens', sql`select hash from tokens where ${isOneOf(sql`family`, families)}`)
}

/** Removes the rows with these hashes, held in one order by all who do: those who come together must not block each other. */
async function removeRows(
  tx: Transaction,
  table: 'device_codes' | 'authorization_codes' | 'sessions' | 'tokens',
  excess: Sql,
): Promise<void> {
  const rows = await tx.all<{ hash: string }>(excess)
  if (rows.length === 0) return
  const hashes = rows.map(row => row.hash)
  const these = sql`${isOneOf(sql`hash`, hashes)}`
  await tx.lock(sql`select hash from ${verbatim(table)} where ${these} order by hash`, table)
  if (table === 'tokens') await endTokens(tx, these)
  else await tx.run(sql`delete from ${verbatim(table)} where ${these}`)
}
