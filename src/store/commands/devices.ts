import { type Refusal, refuse } from '../../contract/problem.ts'
import { uuidV7 } from '../../kit/id.ts'
import type { Transaction } from '../database.ts'
import { sql } from '../sql/tag.ts'
import { capDeviceCodes, capGrants } from './caps.ts'
import { connect, type Exchanged } from './codes.ts'
import { insertToken, type Successor } from './tokens.ts'

/** A device authorization request: the secret code that the device keeps, and the one that the user types. */
interface NewDevice {
  readonly hash: string
  readonly user_code: string
  readonly client_id: string
  readonly scopes: readonly string[]
  readonly expires_at: string
  /** The network of the caller; codes are capped per network. */
  readonly network: string
}

/** `taken`: another device has this user code; generate a new one. */
export async function startDevice(tx: Transaction, args: { device: NewDevice }) {
  const { device } = args
  const added = await tx.run(
    sql`insert into device_codes (hash, user_code, client_id, scopes, decision, network, expires_at)
        select ${device.hash}, ${device.user_code}, id, ${JSON.stringify(device.scopes)}, 'pending',
          ${device.network}, ${device.expires_at}
        from clients where id = ${device.client_id}
        on conflict (user_code) do nothing`,
  )
  if (added === 0) {
    const client = await tx.get(sql`select id from clients where id = ${device.client_id}`)
    return client === undefined ? refuse('invalid_client') : refuse('taken', 'user code', device.user_code)
  }
  await capDeviceCodes(tx, device)
  return undefined
}

/** Records a user's decision about the device they were shown, and no other. */
export async function decideDevice(
  tx: Transaction,
  args: { hash: string; user_code: string; user_id: string; allow: boolean; now: string },
): Promise<Refusal<'invalid_device_code'> | undefined> {
  const device = await tx.get<{ hash: string; client_id: string; scopes: string }>(
    sql`update device_codes set decision = ${args.allow ? 'allowed' : 'denied'}, user_id = ${args.user_id}
        where hash = ${args.hash} and user_code = ${args.user_code} and decision = 'pending'
          and expires_at > ${args.now}
        returning hash, client_id, scopes`,
  )
  if (device === undefined) return refuse('invalid_device_code')
  if (args.allow) {
    const scopes = JSON.parse(device.scopes) as string[]
    await connect(tx, { user_id: args.user_id, client_id: device.client_id, scopes }, args.now)
  }
  return undefined
}

/** Exchanges a device code for tokens, once, after the user has allowed it. */
export async function useDevice(
  tx: Transaction,
  args: { hash: string; client_id: string; now: string; access: Successor; refresh: Successor },
): Promise<Exchanged | Refusal<'invalid_device_code' | 'access_denied' | 'authorization_pending'>> {
  await tx.lock(sql`select hash from device_codes where hash = ${args.hash}`, 'device_codes')
  const device = await tx.get<{
    user_id: string | null
    display_name: string | null
    scopes: string
    decision: string
  }>(
    sql`select d.user_id, u.display_name, d.scopes, d.decision
        from device_codes d
        left join users u on u.id = d.user_id and u.suspended_at is null
        where d.hash = ${args.hash} and d.client_id = ${args.client_id} and d.expires_at > ${args.now}`,
  )
  if (device === undefined) return refuse('invalid_device_code')
  if (device.decision === 'denied') return refuse('access_denied')
  if (device.user_id === null) return refuse('authorization_pending')
  // The user was suspended while the decision was written.
  if (device.display_name === null) return refuse('invalid_device_code')
  await tx.run(sql`delete from device_codes where hash = ${args.hash}`)
  const scopes = JSON.parse(device.scopes) as string[]
  const shared = { client_id: args.client_id, user_id: device.user_id, scopes, family: uuidV7() }
  await insertToken(tx, { ...shared, ...args.access, kind: 'user' })
  await insertToken(tx, { ...shared, ...args.refresh, kind: 'refresh' })
  await capGrants(tx, shared)
  return { scopes, user: { id: device.user_id, display_name: device.display_name } }
}
