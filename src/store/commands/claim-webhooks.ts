/**
 * Claims messages to webhooks. What is looked at is either claimed or put into a queue where it waits without being looked
 * at, so the cost of a claim does not depend on how many messages wait: a receiver that fails has one due row, its queue.
 */
import type { EventType } from '../../contract/events/event-type.ts'
import { EVENT_TYPES } from '../../contract/events/event-types.ts'
import type { MessageKind } from '../../domain/events/delivery-outcome.ts'
import { VERIFICATION_QUEUE } from '../../domain/events/event-subscription.ts'
import { Admission, messageQueues, type WebhookRoom } from '../../domain/events/webhook-room.ts'
import type { Transaction } from '../database.ts'
import { isDue, isPending } from '../queries/event-deliveries.ts'
import { isOneOf, limitedTo, lockFreeRows, readAlongIndexes, type Sql, sql } from '../sql/tag.ts'
import {
  type Claim,
  type ClaimedDelivery,
  type ClaimTimes,
  claimThese,
  storeNow,
} from './claim-deliveries.ts'
import { firstInLane, isFirstInLane } from './claim-socket-messages.ts'
import { type DeliveryOutcome, settleAlongIndexes } from './event-deliveries.ts'
import { BUSY_MILLISECONDS, cancel, putIntoQueues, rescheduleQueues } from './webhook-queues.ts'

/** Queues and scheduled messages that one claim looks at. */
const MAX_QUEUES = 32
const MAX_SCHEDULED = 100
/** If there are so many: scheduled messages that follow others into a queue, and that are looked at from the other end. */
const MAX_FOLLOWING = 300
const MAX_NEWEST = 50
/** Messages of an ended subscription that one claim cancels, and the pause before the next. */
const MAX_CANCELED = 200
const CANCEL_MILLISECONDS = 50

interface ClaimedWebhooks {
  readonly claimed: readonly ClaimedDelivery[]
  /** Whether there may be more to claim now. */
  readonly more: boolean
}

interface DueQueue {
  readonly name: string
  readonly failures: number
}

interface DueDelivery {
  readonly id: string
  readonly message: string
  readonly kind: MessageKind
  readonly subscription_id: string
  readonly target: string
  readonly lane: string | null
  readonly attempts: number
  /** The duration of the last attempt. A message that an operator sends again has one as well. */
  readonly milliseconds: number | null
  readonly is_first: number
  /** When the first message of its lane is due. */
  readonly first_due_in: number | string | null
  /** The client, type and end of the subscription. */
  readonly client_id: string
  readonly type: string
  readonly ended_at: string | null
  /** When a message of its lane may be sent, if the lane is failing. */
  readonly failing_in: number | string | null
}

/**
 * Settles what has ended, and claims messages that are due, the oldest first, as many as there is room for. Both in one
 * transaction, because waiting for the disk takes the longest. Of messages in one lane only the first is
 * claimed. Events of a batched type are put into one message when they are claimed for the first time, and stay together
 * after that.
 */
export async function claimWebhooks(
  tx: Transaction,
  args: ClaimTimes & { readonly room: WebhookRoom; readonly outcomes?: readonly DeliveryOutcome[] },
): Promise<ClaimedWebhooks> {
  await tx.get(readAlongIndexes)
  await settleAlongIndexes(tx, args.outcomes ?? [])
  const admission = new Admission(args.room)
  const queues = await tx.all<DueQueue>(
    sql`select name, failures from event_queues where next_at <= ${storeNow}
        order by next_at${limitedTo(MAX_QUEUES)}${lockFreeRows}`,
  )
  const looks: Look[] = []
  for (const queue of queues) {
    const most = admission.most(queue.name, queue.failures > 0)
    const rows = most === 0 ? [] : await waitingIn(tx, queue.name, most)
    looks.push({ ...queue, most, rows, used: 0, milliseconds: undefined })
  }
  const oldest = await dueScheduled(tx, sql`d.due_at, d.seq`, MAX_SCHEDULED)
  const isCut = oldest.length === MAX_SCHEDULED
  // Behind many messages to a host that takes no more, others are found from the other end.
  const newest = isCut ? await dueScheduled(tx, sql`d.due_at desc, d.seq desc`, MAX_NEWEST) : []
  const claim = new WebhookClaim(tx, admission, looks)
  await claim.decide([...oldest, ...newest.reverse()], isCut)
  const claimed = await claimThese(tx, [...claim.claims.values()], args)
  await putIntoQueues(tx, [...claim.waiting.values()])
  if (isCut) await putOthersIntoQueues(tx, [...claim.waiting.values()])
  const filled = new Set([...claim.waiting.values()].map(({ queue }) => queue))
  const left = looks.map(look => ({
    name: look.name,
    milliseconds: nextLook(look, filled.has(look.name), args.forMilliseconds),
  }))
  await rescheduleQueues(tx, left)
  const hasMore = isCut || queues.length === MAX_QUEUES
  return { claimed, more: hasMore || left.some(({ milliseconds }) => milliseconds === 0) }
}

/** Others that are due follow into the same queues, so that many of them do not stand in front of what can be sent. */
async function putOthersIntoQueues(tx: Transaction, waiting: readonly { queue: string }[]): Promise<void> {
  const names = [...new Set(waiting.map(({ queue }) => queue))]
  if (names.length === 0) return
  const others = await tx.all<{ id: string; queue: string }>(
    sql`select id, queue from (
          select d.id, d.seq, case when ${isOneOf(sql`d.target`, names)} then d.target
            else coalesce(d.lane, d.subscription_id) end as queue
          from event_deliveries d
          where d.due_at <= ${storeNow} and d.waits_in is null and d.target < 'websocket:'
            and d.kind <> 'webhook_callback_verification'
          order by d.due_at, d.seq${limitedTo(MAX_FOLLOWING)}${lockFreeRows}) as due
        where ${isOneOf(sql`queue`, names)}`,
  )
  await putIntoQueues(
    tx,
    others.map(row => ({ ...row, milliseconds: BUSY_MILLISECONDS })),
  )
}

/** A column of the subscription of the delivery `d`. A join would make PostgreSQL lock the row of the subscription, too. */
const ofSubscription = (column: Sql): Sql =>
  sql`(select ${column} from event_subscriptions s where s.id = d.subscription_id)`

const dueColumns = sql`select d.id, d.message, d.kind, d.subscription_id, d.target, d.lane, d.attempts, d.milliseconds,
  ${isFirstInLane} as is_first,
  case when d.lane is null then null else ${firstInLane(sql`e.due_at`)} - ${storeNow} end as first_due_in,
  ${ofSubscription(sql`s.client_id`)} as client_id, ${ofSubscription(sql`s.type`)} as type,
  ${ofSubscription(sql`s.ended_at`)} as ended_at,
  (select q.next_at - ${storeNow} from event_queues q where q.failures > 0 and q.name =
    case d.kind when 'webhook_callback_verification' then ${VERIFICATION_QUEUE} || ${ofSubscription(sql`s.client_id`)}
      else coalesce(d.lane, d.subscription_id) end) as failing_in
  from event_deliveries d`

function dueScheduled(tx: Transaction, order: Sql, most: number) {
  return tx.all<DueDelivery>(
    sql`${dueColumns} where d.due_at <= ${storeNow} and d.waits_in is null and d.target < 'websocket:'
        order by ${order}${limitedTo(most)}${lockFreeRows}`,
  )
}

/** With a range, because PostgreSQL might read all rows in the order of `seq`. */
function waitingIn(tx: Transaction, name: string, most: number) {
  return tx.all<DueDelivery>(
    sql`${dueColumns} where d.waits_in >= ${name} and d.waits_in <= ${name} and d.waits_in is not null
          and d.due_at is not null
        order by d.waits_in, d.seq${limitedTo(most)}${lockFreeRows}`,
  )
}

/** A queue whose next messages are looked at. */
interface Look extends DueQueue {
  /** How many messages there was room for. */
  readonly most: number
  readonly rows: readonly DueDelivery[]
  /** How many of them have left the queue. */
  used: number
  /** After how long to look at the queue again, if a message in it decides that. */
  milliseconds: number | undefined
}

/** When to look at a queue again; undefined if it is empty. `isFilled`: messages were put into it since it was looked at. */
function nextLook(look: Look, isFilled: boolean, claimMilliseconds: number) {
  const { most, rows, used, failures, milliseconds } = look
  if (milliseconds !== undefined) return milliseconds
  if (most === 0 || isFilled || rows.length > used) return BUSY_MILLISECONDS
  if (rows.length < most) return undefined
  // The end of the request decides, unless its process dies.
  return failures > 0 || rows.some(row => row.lane !== null) ? claimMilliseconds : 0
}

class WebhookClaim {
  readonly claims = new Map<string, Claim>()
  readonly waiting = new Map<string, { id: string; queue: string; milliseconds: number }>()
  readonly #tx: Transaction
  readonly #admission: Admission
  readonly #looks: readonly Look[]
  /** Failing lanes that pause, or have had a message in this claim. */
  readonly #pausing = new Set<string>()

  constructor(tx: Transaction, admission: Admission, looks: readonly Look[]) {
    this.#tx = tx
    this.#admission = admission
    this.#looks = looks
  }

  /** Claims messages or puts them into queues. `isCut`: more messages are scheduled than these. */
  async decide(scheduled: readonly DueDelivery[], isCut: boolean): Promise<void> {
    for (const look of this.#looks) await this.#release(look)
    for (const row of scheduled) {
      if (this.claims.has(row.id) || this.waiting.has(row.id)) continue
      if (hasEnded(row)) await this.#cancel([row.id])
      else {
        const queue = await this.#place(row)
        // It will be sent in a moment, and putting it into a queue takes longer than looking at it again.
        if (queue !== undefined && !isCut && this.#admission.isQuick(queue)) this.waiting.delete(row.id)
      }
    }
  }

  /** Lets messages leave their queue. */
  async #release(look: Look): Promise<void> {
    const { name, rows } = look
    if (rows.some(hasEnded)) {
      const ended = await waitingIn(this.#tx, name, MAX_CANCELED)
      await this.#cancel(ended.filter(hasEnded).map(row => row.id))
      look.milliseconds = CANCEL_MILLISECONDS
      return
    }
    for (const row of rows) {
      const queue = this.claims.has(row.id) ? undefined : await this.#place(row)
      if (queue !== name) look.used += 1
      else {
        this.waiting.delete(row.id)
        if (row.is_first === 0) look.milliseconds = Math.max(Number(row.first_due_in), BUSY_MILLISECONDS)
      }
    }
  }

  /** Claims a message, or finds the queue where it waits. */
  async #place(row: DueDelivery): Promise<string | undefined> {
    const queues = messageQueues(row)
    const { lane } = queues
    const isFailing = row.failing_in !== null
    const isPausing = Number(row.failing_in) > 0 || this.#pausing.has(lane)
    const queue = row.is_first === 0 || isPausing ? lane : this.#admission.take(queues, isFailing)
    if (queue !== undefined) {
      this.waiting.set(row.id, { id: row.id, queue, milliseconds: BUSY_MILLISECONDS })
      return queue
    }
    if (isFailing) this.#pausing.add(lane)
    await this.#claim(row)
    return undefined
  }

  async #claim(first: DueDelivery): Promise<void> {
    const { id, message, kind, type } = first
    this.#add({ id })
    if (kind !== 'notification' || !BATCHED_TYPES.has(type)) return
    const isNew = isUnsent(first)
    const others = isNew ? await this.#joining(first) : await this.#rest(message)
    for (const other of others) this.#add({ id: other.id, joins: isNew ? message : undefined })
  }

  #add(claim: Claim): void {
    this.claims.set(claim.id, claim)
    this.waiting.delete(claim.id)
  }

  async #cancel(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    await this.#tx.run(sql`${cancel()} where ${isOneOf(sql`id`, ids)} and ${isPending}`)
  }

  #rest(message: string) {
    return this.#tx.all<{ id: string }>(
      sql`select id from event_deliveries where message = ${message} and ${isDue}`,
    )
  }

  /** The other events of a subscription that were never sent, as many as fit into one message with `first`. */
  async #joining(first: DueDelivery): Promise<{ id: string }[]> {
    const found = await this.#tx.all<{ id: string; event_seq: number | string }>(
      sql`select id, event_seq from event_deliveries
          where subscription_id >= ${first.subscription_id} and subscription_id <= ${first.subscription_id}
            and due_at is not null
            and kind = 'notification' and attempts = 0 and milliseconds is null and message = id
          order by subscription_id, seq${limitedTo(MAX_BATCH)}${lockFreeRows}`,
    )
    const sizes = await this.#tx.all<{ seq: number | string; bytes: number | string }>(
      sql`select e.seq, octet_length(e.body) as bytes from events e
          join event_deliveries d on d.event_seq = e.seq where ${isOneOf(
            sql`d.id`,
            found.map(row => row.id),
          )}`,
    )
    const bytesBySeq = new Map(sizes.map(({ seq, bytes }) => [String(seq), Number(bytes) + ENTRY_BYTES]))
    const bodySize = (row: { event_seq: number | string }) => bytesBySeq.get(String(row.event_seq)) ?? 0
    let left =
      BATCH_BYTES - found.filter(row => row.id === first.id).reduce((sum, row) => sum + bodySize(row), 0)
    const joining: { id: string }[] = []
    for (const row of found) {
      if (this.claims.has(row.id)) continue
      left -= bodySize(row)
      if (left < 0) break
      joining.push(row)
    }
    return joining
  }
}

const hasEnded = ({ kind, ended_at }: DueDelivery) => kind !== 'revocation' && ended_at !== null

const isUnsent = ({ id, message, attempts, milliseconds }: DueDelivery) =>
  attempts === 0 && milliseconds === null && message === id

/** Types whose events are sent several at a time. */
const BATCHED_TYPES: ReadonlySet<string> = new Set(
  EVENT_TYPES.filter((type: EventType) => type.isBatched).map(type => type.type),
)

/** Body bytes for the events of a batch: 250,000 without the subscription, whose longest part is a callback of 2 KB. */
const BATCH_BYTES = 240_000
/** Around the event in the list: its id of 36 characters, names and punctuation. */
const ENTRY_BYTES = 64
const MAX_BATCH = 1000
