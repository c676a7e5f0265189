import { uuid } from '../../kit/id.ts'
import type { Transaction } from '../database.ts'
import { sql } from '../sql/tag.ts'
import { connect } from './codes.ts'
import { insertToken, type Successor } from './tokens.ts'

/** A device asks for a token: its own code, which it keeps, and the one that a person types. */
export interface NewDevice {
  readonly hash: string
  readonly user_code: string
  readonly client_id: string
  readonly scopes: readonly string[]
  readonly expires_at: string
}

/** `taken`: somebody has this user code; draw another. */
export async function startDevice(
  tx: Transaction,
  args: { device: NewDevice },
): Promise<'done' | 'taken' | 'unknown_client'> {
  const { device } = args
  const client = await tx.get(sql`select id from clients where id = ${device.client_id}`)
  if (client === undefined) return 'unknown_client'
  const added = await tx.run(
    sql`insert into device_codes (hash, user_code, client_id, scopes, decision, expires_at)
        values (${device.hash}, ${device.user_code}, ${device.client_id}, ${JSON.stringify(device.scopes)}, 'pending',
          ${device.expires_at})
        on conflict (user_code) do nothing`,
  )
  return added === 1 ? 'done' : 'taken'
}

/** A person has decided about the device whose code they typed. */
export async function decideDevice(
  tx: Transaction,
  args: { user_code: string; user_id: string; allow: boolean; now: string },
): Promise<'done' | 'absent'> {
  const device = await tx.get<{ hash: string; client_id: string; scopes: string }>(
    sql`update device_codes set decision = ${args.allow ? 'allowed' : 'denied'}, user_id = ${args.user_id}
        where user_code = ${args.user_code} and decision = 'pending' and expires_at > ${args.now}
        returning hash, client_id, scopes`,
  )
  if (device === undefined) return 'absent'
  if (args.allow) {
    const scopes = JSON.parse(device.scopes) as string[]
    await connect(tx, { user_id: args.user_id, client_id: device.client_id, scopes }, args.now)
  }
  return 'done'
}

/** Exchanges a device code for tokens, once, when the person has allowed it. */
export async function useDevice(
  tx: Transaction,
  args: { hash: string; client_id: string; now: string; access: Successor; refresh: Successor },
): Promise<{ outcome: 'done'; scopes: string[] } | { outcome: 'pending' | 'denied' | 'refused' }> {
  await tx.lock(sql`select hash from device_codes where hash = ${args.hash}`, 'device_codes')
  const device = await tx.get<{ user_id: string | null; scopes: string; decision: string }>(
    sql`select user_id, scopes, decision from device_codes
        where hash = ${args.hash} and client_id = ${args.client_id} and expires_at > ${args.now}`,
  )
  if (device === undefined) return { outcome: 'refused' }
  if (device.decision === 'denied') return { outcome: 'denied' }
  if (device.user_id === null) return { outcome: 'pending' }
  await tx.run(sql`delete from device_codes where hash = ${args.hash}`)
  const scopes = JSON.parse(device.scopes) as string[]
  const shared = { client_id: args.client_id, user_id: device.user_id, scopes, family: uuid() }
  await insertToken(tx, { ...shared, ...args.access, kind: 'user' })
  await insertToken(tx, { ...shared, ...args.refresh, kind: 'refresh' })
  return { outcome: 'done', scopes }
}
