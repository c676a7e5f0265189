import { SOCKET_TARGET } from '../../domain/events/event-subscription.ts'
import type { Transaction } from '../database.ts'
import { isOneOf, limitedTo, lockFreeRows, readAlongIndexes, type Sql, sql } from '../sql/tag.ts'
import {
  type Claim,
  type ClaimedDelivery,
  type ClaimTimes,
  claimThese,
  storeNow,
} from './claim-deliveries.ts'
import { confirmedOutcome, settleAlongIndexes } from './event-deliveries.ts'

/** How many messages a WebSocket has room for. */
interface SocketRoom {
  readonly session_id: string
  readonly most: number
}

/** Messages that one claim looks at and takes. */
const MAX_CLAIM = 1000

/**
 * Settles messages that clients have confirmed, and claims messages that are due, for WebSockets that this node still has. Both
 * in one transaction, because waiting for the disk takes the longest. Of messages in one lane only the first is claimed.
 */
export async function claimSocketMessages(
  tx: Transaction,
  args: ClaimTimes & {
    readonly node: string
    readonly sockets: readonly SocketRoom[]
    readonly confirmed: readonly string[]
  },
): Promise<ClaimedDelivery[]> {
  await tx.get(readAlongIndexes)
  await settleAlongIndexes(tx, [confirmedOutcome(args.confirmed)])
  const ids = args.sockets.map(room => room.session_id)
  // A WebSocket that moves to another node meanwhile waits for this transaction, and one that is moving now is left out.
  const held = await tx.all<{ id: string }>(
    sql`select id from event_sockets where node = ${args.node} and ${isOneOf(sql`id`, ids)} order by id${lockFreeRows}`,
  )
  if (held.length === 0) return []
  const here = new Set(held.map(({ id }) => id))
  const left = new Map(
    args.sockets
      .filter(room => here.has(room.session_id))
      .map(({ session_id, most }) => [SOCKET_TARGET + session_id, most]),
  )
  const found = await tx.all<Claim & { readonly target: string; readonly is_first: number }>(
    sql`select d.id, d.target, ${isFirstInLane} as is_first from event_deliveries d
        where ${isOneOf(sql`d.target`, [...left.keys()])} and d.target >= 'websocket:' and d.due_at <= ${storeNow}
        order by d.due_at, d.seq${limitedTo(MAX_CLAIM)}${lockFreeRows}`,
  )
  const due = found.flatMap(({ id, target, is_first }) => {
    const most = left.get(target) ?? 0
    if (is_first === 0 || most === 0) return []
    left.set(target, most - 1)
    return [{ id }]
  })
  return claimThese(tx, due, args)
}

/** A column of the first pending message in the lane of `d`. The lane is a range, because with equality PostgreSQL might read all rows in the order of `seq`. */
export const firstInLane = (column: Sql): Sql =>
  sql`(select ${column} from event_deliveries e where e.lane >= d.lane and e.lane <= d.lane and e.lane is not null
    and e.due_at is not null order by e.lane, e.seq limit 1)`

/** 1 if no earlier message of the lane of `d` is pending. */
export const isFirstInLane = sql`case when d.lane is null or d.seq = ${firstInLane(sql`e.seq`)} then 1 else 0 end`
