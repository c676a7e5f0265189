import type { EventType } from '../../contract/events/event-type.ts'
import { EVENT_TYPES, type EventOf, userUpdate } from '../../contract/events/event-types.ts'
import type { MessageKind } from '../../domain/delivery-outcome.ts'
import { SOCKET_TARGET } from '../../domain/event-subscription.ts'
import type { Transaction } from '../database.ts'
import { type EventSubscriptionRow, hasAuthorized } from '../queries/event-subscriptions.ts'
import {
  isOneOf,
  limitedTo,
  lockFreeRows,
  lockRows,
  notByIndex,
  sql,
  storeClock,
  tableOf,
} from '../sql/tag.ts'

/** A message to send now, as the process that claimed it gets it, with its subscription; the id is that of the message. */
export interface ClaimedDelivery extends EventSubscriptionRow {
  readonly message: string
  readonly kind: MessageKind
  readonly target: string
  /** Attempts before this one. */
  readonly attempts: number
  readonly subscription_id: string
  readonly key_id: string | null
  readonly sealed: string | null
  readonly event_id: string | null
  readonly body: string | null
}

/** How many messages there is room for at a target. */
export interface Capacity {
  readonly target: string
  readonly most: number
  /** Only messages of these subscriptions, one of each. */
  readonly oneOfEach?: readonly string[]
  /** No messages of these subscriptions. */
  readonly except?: readonly string[]
}

/** The clock of the store, read once per statement, so that an index on times can be used. */
const now = sql`(select ${storeClock})`

/**
 * Claims messages that are due, the oldest of each target first. They are due again after `forMilliseconds`, in case this
 * process dies. Of messages in one lane only the first is claimed. Events of a batched type are put into one message when
 * they are claimed for the first time, and stay together after that.
 */
export async function claimDeliveries(
  tx: Transaction,
  args: {
    capacities: readonly Capacity[]
    forMilliseconds: number
    /** For WebSockets: only those that this node still has. */
    node?: string
    now?: number
  },
): Promise<ClaimedDelivery[]> {
  const due =
    args.node === undefined
      ? await dueAtHosts(tx, args.capacities)
      : await dueOnSockets(tx, await capacitiesOf(tx, args.capacities, args.node))
  if (due.length === 0) return []
  const claimed = await tx.all<{ id: string }>(
    sql`update event_deliveries set message = due.message, attempts = attempts + 1,
          due_at = ${now} + cast(${args.forMilliseconds} as bigint)
        from ${tableOf(due, ['id', 'message'])} as due
        where event_deliveries.id = due.id and due_at <= ${now} returning event_deliveries.id`,
  )
  const ids = claimed.map(row => row.id)
  if (ids.length === 0) return []
  const rows = await tx.all<ClaimedDelivery>(
    sql`select d.id, d.message, d.kind, d.target, d.attempts - 1 as attempts, d.subscription_id, s.client_id, s.type,
          s.version, s.condition, s.status, s.cost, s.method, s.callback, s.session_id, s.connected_at, s.created_at,
          s.key_id, s.sealed, e.id as event_id, e.body
        from event_deliveries d
        join event_subscriptions s on s.id = d.subscription_id
        left join events e on e.seq = d.event_seq
        where ${isOneOf(sql`d.id`, ids)} order by d.seq`,
  )
  const permitted: ClaimedDelivery[] = []
  for (const row of rows) permitted.push(await withPermittedFields(tx, row, args.now ?? Date.now()))
  return permitted
}

/** A delivery to claim, and the message that it is a part of. */
type Claim = Readonly<Record<'id' | 'message', string>>

interface DueDelivery {
  readonly id: string
  readonly message: string
  readonly kind: MessageKind
  readonly subscription_id: string
  readonly attempts: number
  /** Of the last attempt: a message that is sent again by an operator has it, too. */
  readonly milliseconds: number | null
  readonly type: string
}

/** Types whose events are sent several at a time. */
const BATCHED_TYPES: ReadonlySet<string> = new Set(
  EVENT_TYPES.filter((type: EventType) => type.isBatched).map(type => type.type),
)

async function dueAtHosts(tx: Transaction, capacities: readonly Capacity[]): Promise<Claim[]> {
  const due: Claim[] = []
  for (const capacity of capacities) due.push(...(await dueAt(tx, capacity)))
  return due
}

const isFirstInLane = sql`(d.lane is null or not exists (
  select 1 from event_deliveries e where e.lane = d.lane and e.due_at is not null and e.seq < d.seq))`

/** Messages to WebSockets that one claim takes. */
const MAX_CLAIM = 1000

/** The messages of many WebSockets, read together: most have one, and none of them is a batch. */
async function dueOnSockets(tx: Transaction, capacities: readonly Capacity[]): Promise<Claim[]> {
  if (capacities.length === 0) return []
  const left = new Map(capacities.map(({ target, most }) => [target, most]))
  const found = await tx.all<Claim & { readonly target: string }>(
    sql`select d.id, d.message, d.target from event_deliveries d
        where ${isOneOf(sql`d.target`, [...left.keys()])} and d.due_at <= ${now} and ${isFirstInLane}
        order by d.due_at, d.seq${limitedTo(MAX_CLAIM)}${lockFreeRows}`,
  )
  return found.flatMap(({ id, message, target }) => {
    const most = left.get(target) ?? 0
    left.set(target, most - 1)
    return most > 0 ? [{ id, message }] : []
  })
}

/** The deliveries of as many messages as there is room for. */
async function dueAt(tx: Transaction, { target, most, oneOfEach, except = [] }: Capacity): Promise<Claim[]> {
  const isOf = (ids: readonly string[]) => isOneOf(notByIndex('d.subscription_id'), ids)
  const allowed =
    oneOfEach !== undefined
      ? sql`${isOf(oneOfEach)}`
      : except.length === 0
        ? sql`1 = 1`
        : sql`not (${isOf(except)})`
  // Of the deliveries that share a message, one is found, and the others are added.
  const found = await tx.all<DueDelivery>(
    sql`select d.id, d.message, d.kind, d.subscription_id, d.attempts, d.milliseconds,
          (select s.type from event_subscriptions s where s.id = d.subscription_id) as type
        from event_deliveries d
        where d.target = ${target} and d.due_at <= ${now} and ${allowed}
          and ${isFirstInLane}
          and (d.message = d.id or not exists (
            select 1 from event_deliveries m where m.id = d.message and m.due_at is not null))
        order by d.due_at, d.seq${limitedTo(most)}${lockFreeRows}`,
  )
  const due = oneOfEach === undefined ? found : firstOfEach(found)
  const claims = new Map<string, Claim>()
  for (const first of due) {
    const { id, message } = first
    if (claims.has(id)) continue
    claims.set(id, { id, message })
    if (first.kind !== 'notification' || !BATCHED_TYPES.has(first.type)) continue
    const isNew = first.attempts === 0 && first.milliseconds === null && message === id
    const others = isNew ? await joiningDeliveries(tx, target, first, claims) : await restOf(tx, message)
    for (const other of others) claims.set(other.id, { id: other.id, message })
  }
  return [...claims.values()]
}

function firstOfEach(found: readonly DueDelivery[]): DueDelivery[] {
  const known = new Set<string>()
  return found.filter(({ subscription_id }) => known.size < known.add(subscription_id).size)
}

async function restOf(tx: Transaction, message: string): Promise<{ id: string }[]> {
  return tx.all<{ id: string }>(
    sql`select id from event_deliveries where message = ${message} and due_at <= ${now}`,
  )
}

/** Body bytes for the events of a batch: 250,000 without the subscription, whose longest part is a callback of 2 KB. */
const BATCH_BYTES = 240_000
/** Around the event in the list: its id of 36 characters, names and punctuation. */
const ENTRY_BYTES = 64
const MAX_BATCH = 1000

/** The other events of a subscription that are due for the first time, as many as fit into one message with `first`. */
async function joiningDeliveries(
  tx: Transaction,
  target: string,
  first: DueDelivery,
  taken: ReadonlyMap<string, unknown>,
): Promise<{ id: string }[]> {
  const found = await tx.all<{ id: string; event_seq: number | string }>(
    sql`select id, event_seq from event_deliveries
        where target = ${target} and due_at <= ${now} and ${notByIndex('subscription_id')} = ${first.subscription_id}
          and kind = 'notification' and attempts = 0 and milliseconds is null and message = id
        order by due_at, seq${limitedTo(MAX_BATCH)}${lockFreeRows}`,
  )
  const sizes = await tx.all<{ seq: number | string; bytes: number | string }>(
    sql`select e.seq, octet_length(e.body) as bytes from events e
        join event_deliveries d on d.event_seq = e.seq where ${isOneOf(
          sql`d.id`,
          found.map(row => row.id),
        )}`,
  )
  const bytesOf = new Map(sizes.map(({ seq, bytes }) => [String(seq), Number(bytes) + ENTRY_BYTES]))
  const sizeOf = (row: { event_seq: number | string }) => bytesOf.get(String(row.event_seq)) ?? 0
  let left = BATCH_BYTES - found.filter(row => row.id === first.id).reduce((sum, row) => sum + sizeOf(row), 0)
  const joining: { id: string }[] = []
  for (const row of found) {
    if (taken.has(row.id)) continue
    left -= sizeOf(row)
    if (left < 0) break
    joining.push(row)
  }
  return joining
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

/** A WebSocket that moves to another node meanwhile waits for this transaction. */
async function capacitiesOf(
  tx: Transaction,
  capacities: readonly Capacity[],
  node: string,
): Promise<Capacity[]> {
  const ids = capacities.map(({ target }) => target.slice(SOCKET_TARGET.length))
  const held = await tx.all<{ id: string }>(
    sql`select id from event_sockets where node = ${node} and ${isOneOf(sql`id`, ids)} order by id${lockRows}`,
  )
  const targets = new Set(held.map(({ id }) => SOCKET_TARGET + id))
  return capacities.filter(room => targets.has(room.target))
}
