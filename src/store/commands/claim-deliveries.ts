import { type EventOf, userUpdate } from '../../contract/events/event-types.ts'
import type { MessageKind } from '../../domain/events/delivery-outcome.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import type { Transaction } from '../database.ts'
import { isDue, isJoined, isPending } from '../queries/event-deliveries.ts'
import { type EventSubscriptionRow, hasAuthorized } from '../queries/event-subscriptions.ts'
import { isOneOf, isOneOfNumbers, readAlongIndexes, sql, storeClock, valuesTable } from '../sql/tag.ts'

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

/** A delivery as the claim has written it. */
interface DeliveryRow
  extends Pick<
    ClaimedDelivery,
    'id' | 'message' | 'kind' | 'target' | 'lane' | 'attempts' | 'subscription_id'
  > {
  readonly seq: number | string
  readonly event_seq: number | string | null
}

type SubscriptionRow = EventSubscriptionRow & Pick<ClaimedDelivery, 'key_id' | 'sealed'>

/** Claims these deliveries, but for those that another process was faster with. */
export async function claimThese(
  tx: Transaction,
  due: readonly Claim[],
  { claim, forMilliseconds, now = Date.now() }: ClaimTimes,
): Promise<ClaimedDelivery[]> {
  if (due.length === 0) return []
  const claimed = await tx.all<DeliveryRow>(
    sql`update event_deliveries set attempts = attempts + 1, waits_in = null, claimed_by = ${claim},
          due_at = ${storeNow} + cast(${forMilliseconds} as bigint)
        where ${isOneOf(
          sql`id`,
          due.map(({ id }) => id),
        )} and ${isDue}
        returning seq, id, message, kind, target, lane, attempts - 1 as attempts, subscription_id, event_seq`,
  )
  if (claimed.length === 0) return []
  const joins = new Map(due.map(({ id, joins }) => [id, joins]))
  const rows = claimed
    .map(row => ({ ...row, message: joins.get(row.id) ?? row.message }))
    .sort((a, b) => Number(a.seq) - Number(b.seq))
  const [subscriptions, events] = await Promise.all([
    findSubscriptions(tx, rows),
    findEvents(tx, rows),
    joinMessages(
      tx,
      rows.filter(row => joins.get(row.id) !== undefined),
    ),
  ])
  const permitted: ClaimedDelivery[] = []
  for (const { seq: _, event_seq, ...row } of rows) {
    const subscription = assertDefined(
      subscriptions.get(row.subscription_id),
      'the subscription of a delivery',
    )
    const event = event_seq === null ? undefined : events.get(Number(event_seq))
    const delivery = { ...subscription, ...row, event_id: event?.id ?? null, body: event?.body ?? null }
    permitted.push(await withPermittedFields(tx, delivery, now))
  }
  return permitted
}

/** Apart from the deliveries, most of which share theirs with others: joined, PostgreSQL would read and send them for each. */
async function findSubscriptions(
  tx: Transaction,
  rows: readonly DeliveryRow[],
): Promise<ReadonlyMap<string, SubscriptionRow>> {
  const ids = [...new Set(rows.map(row => row.subscription_id))]
  const found = await tx.all<SubscriptionRow>(
    sql`select id, client_id, type, version, condition, status, cost, method, callback, session_id, connected_at,
          created_at, key_id, sealed
        from event_subscriptions where ${isOneOf(sql`id`, ids)}`,
  )
  return new Map(found.map(row => [row.id, row]))
}

async function findEvents(
  tx: Transaction,
  rows: readonly DeliveryRow[],
): Promise<ReadonlyMap<number, { readonly id: string; readonly body: string }>> {
  const seqs = new Set(rows.flatMap(({ event_seq }) => (event_seq === null ? [] : [Number(event_seq)])))
  if (seqs.size === 0) return new Map()
  const found = await tx.all<{ seq: number | string; id: string; body: string }>(
    sql`select seq, id, body from events where ${isOneOfNumbers(sql`seq`, [...seqs])}`,
  )
  return new Map(found.map(row => [Number(row.seq), row]))
}

/** Apart from the claim, because few deliveries join others, and the index of messages is written only for them. */
async function joinMessages(
  tx: Transaction,
  joining: readonly Pick<DeliveryRow, 'id' | 'message'>[],
): Promise<void> {
  if (joining.length === 0) return
  const rows = joining.map(({ id, message }) => ({ id, message }))
  await tx.run(
    sql`update event_deliveries set message = j.message from ${valuesTable(rows, ['id', 'message'])} as j
        where event_deliveries.id = j.id and ${isJoined(rows)}`,
  )
}

/** Undoes a claim that may have succeeded although its process got no answer: its messages are due now. */
export async function undoClaim(
  tx: Transaction,
  { claim, forMilliseconds }: Pick<ClaimTimes, 'claim' | 'forMilliseconds'>,
): Promise<number> {
  await tx.get(readAlongIndexes)
  const isOfClaim = sql`due_at > ${storeNow} and due_at <= ${storeNow} + cast(${forMilliseconds} as bigint)
    and claimed_by = ${claim}`
  // Found first, in the order of the indexes: otherwise PostgreSQL might look for every delivery among those of the claim.
  const found = await Promise.all(
    [
      sql`waits_in is null and target < 'websocket:' and ${isOfClaim} order by due_at, seq`,
      sql`target >= 'websocket:' and ${isOfClaim} order by target, due_at, seq`,
    ].map(which => tx.all<{ seq: number | string }>(sql`select seq from event_deliveries where ${which}`)),
  )
  const undone = await tx.run(
    sql`update event_deliveries set due_at = ${storeNow}, attempts = attempts - 1, claimed_by = null
        where ${isOneOfNumbers(
          sql`seq`,
          found.flat().map(({ seq }) => Number(seq)),
        )} and claimed_by = ${claim} and ${isPending}`,
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
