import { type EventOf, userUpdate } from '../../contract/events/event-types.ts'
import type { MessageKind } from '../../domain/delivery-outcome.ts'
import type { Transaction } from '../database.ts'
import { isDue } from '../queries/event-deliveries.ts'
import { type EventSubscriptionRow, hasAuthorized } from '../queries/event-subscriptions.ts'
import { isOneOf, sql, storeClock, valuesTable } from '../sql/tag.ts'

/** A message to send now, as the process that claimed it gets it, with its subscription; the id is that of the message. */
export interface ClaimedDelivery extends EventSubscriptionRow {
  readonly message: string
  readonly kind: MessageKind
  readonly target: string
  readonly lane: string | null
  /** Attempts before this one. */
  readonly attempts: number
  readonly subscription_id: string
  readonly key_id: string | null
  readonly sealed: string | null
  readonly event_id: string | null
  readonly body: string | null
}

/** A delivery to claim. */
export interface Claim {
  readonly id: string
  /** The message of another delivery that it becomes a part of. */
  readonly joins?: string | undefined
}

export interface ClaimTimes {
  /** Identifies the claim; see `undoClaim`. */
  readonly claim: string
  /** The claimed messages are due again after this time, in case this process dies. */
  readonly forMilliseconds: number
  /** The clock of tokens. */
  readonly now?: number | undefined
}

/** The clock of the store, read once per statement, so that an index on times can be used. */
export const storeNow = sql`(select ${storeClock})`

/** Claims these deliveries, but for those that another process was faster with. */
export async function claimThese(
  tx: Transaction,
  due: readonly Claim[],
  { claim, forMilliseconds, now = Date.now() }: ClaimTimes,
): Promise<ClaimedDelivery[]> {
  if (due.length === 0) return []
  const claimed = await tx.all<{ id: string }>(
    sql`update event_deliveries set attempts = attempts + 1, waits_in = null, claimed_by = ${claim},
          due_at = ${storeNow} + cast(${forMilliseconds} as bigint)
        where ${isOneOf(
          sql`id`,
          due.map(({ id }) => id),
        )} and ${isDue} returning id`,
  )
  const ids = claimed.map(row => row.id)
  if (ids.length === 0) return []
  await joinMessages(tx, due, new Set(ids))
  const rows = await tx.all<ClaimedDelivery & { readonly seq: number | string }>(
    sql`select d.seq, d.id, d.message, d.kind, d.target, d.lane, d.attempts - 1 as attempts, d.subscription_id, s.client_id,
          s.type, s.version, s.condition, s.status, s.cost, s.method, s.callback, s.session_id, s.connected_at,
          s.created_at, s.key_id, s.sealed, e.id as event_id, e.body
        from event_deliveries d
        join event_subscriptions s on s.id = d.subscription_id
        left join events e on e.seq = d.event_seq
        where ${isOneOf(sql`d.id`, ids)}`,
  )
  const permitted: ClaimedDelivery[] = []
  // Not by the statement: PostgreSQL might read all deliveries in this order.
  for (const { seq: _, ...row } of rows.sort((a, b) => Number(a.seq) - Number(b.seq)))
    permitted.push(await withPermittedFields(tx, row, now))
  return permitted
}

/** Apart from the claim, because few deliveries join others, and the index of messages is written only for them. */
async function joinMessages(
  tx: Transaction,
  due: readonly Claim[],
  claimed: ReadonlySet<string>,
): Promise<void> {
  const joining = due.flatMap(({ id, joins }) =>
    joins !== undefined && claimed.has(id) ? [{ id, message: joins }] : [],
  )
  if (joining.length === 0) return
  await tx.run(
    sql`update event_deliveries set message = j.message from ${valuesTable(joining, ['id', 'message'])} as j
        where event_deliveries.id = j.id`,
  )
}

/** Undoes a claim that may have succeeded although its process got no answer: its messages are due now. */
export async function undoClaim(
  tx: Transaction,
  { claim, forMilliseconds }: Pick<ClaimTimes, 'claim' | 'forMilliseconds'>,
): Promise<number> {
  const isOfClaim = sql`due_at > ${storeNow} and due_at <= ${storeNow} + cast(${forMilliseconds} as bigint)
    and claimed_by = ${claim}`
  const undone = await tx.run(
    sql`update event_deliveries set due_at = ${storeNow}, attempts = attempts - 1, claimed_by = null where seq in (
          select seq from event_deliveries where waits_in is null and target < 'websocket:' and ${isOfClaim}
          union all
          select seq from event_deliveries where target >= 'websocket:' and ${isOfClaim})`,
  )
  if (undone > 0) tx.announce()
  return undone
}

/** The email address of a user is sent only to clients that may read it now, whatever they could when it was written. */
async function withPermittedFields(
  tx: Transaction,
  row: ClaimedDelivery,
  now: number,
): Promise<ClaimedDelivery> {
  if (row.type !== userUpdate.type || row.body === null) return row
  const event = JSON.parse(row.body) as EventOf<typeof userUpdate.type>
  const { client_id } = row
  const mayReadEmail =
    event.email === '' ||
    (await hasAuthorized(tx, { client_id, user_id: event.user_id, scope: 'user:read:email', now }))
  return mayReadEmail ? row : { ...row, body: JSON.stringify({ ...event, email: '', email_verified: false }) }
}
