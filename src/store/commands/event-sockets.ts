import type { SubscriptionStatus } from '../../contract/resources/event-subscription.ts'
import type { Transaction } from '../database.ts'
import { lostNodes, nodeTurn } from '../queries/event-sockets.ts'
import { isOneOf, sql, storeClock, valuesTable } from '../sql/tag.ts'
import { endSubscriptions } from './end-subscriptions.ts'

type OpenedSocket = Readonly<{ id: string; connected_at: string; keepalive_seconds: number }>

/** Notes that a node has these WebSockets, also if that is repeated. */
export async function openSockets(
  tx: Transaction,
  args: { node: string; sockets: readonly OpenedSocket[] },
): Promise<void> {
  await tx.run(
    sql`insert into event_sockets (id, node, connected_at, keepalive_seconds)
        select id, cast(${args.node} as text), connected_at, cast(keepalive_seconds as integer)
        from ${valuesTable(args.sockets, ['id', 'connected_at', 'keepalive_seconds'])} as opened where 1 = 1
        on conflict (id) do nothing`,
  )
}

/** Moves WebSockets to this node, with their subscriptions. Those that have ended are left out. */
export async function moveSockets(
  tx: Transaction,
  args: { ids: readonly string[]; node: string },
): Promise<{ id: string; connected_at: string; keepalive_seconds: number }[]> {
  const these = isOneOf(sql`id`, args.ids)
  await tx.lock(sql`select id from event_sockets where ${these} order by id`, 'event_sockets')
  const moved = await tx.all<{ id: string; connected_at: string; keepalive_seconds: number }>(
    sql`update event_sockets set node = ${args.node}, moved = 1 where ${these}
        returning id, connected_at, keepalive_seconds`,
  )
  if (moved.length > 0) tx.announce()
  return moved
}

/** Ends WebSockets that this node still has, with their subscriptions. */
export async function closeSockets(
  tx: Transaction,
  args: { node: string; sockets: readonly { id: string; status: SubscriptionStatus }[] },
): Promise<void> {
  for (const { id, status } of args.sockets) {
    const gone = await tx.run(sql`delete from event_sockets where id = ${id} and node = ${args.node}`)
    if (gone > 0) await endSubscriptions(tx, sql`session_id = ${id}`, status, { revokes: false })
  }
}

/** Maximum WebSockets that one call ends. */
const BATCH_SIZE = 200

/** Ends WebSockets of nodes that have died: some of them, as long as `hasLost` finds any. */
export async function closeLostSockets(tx: Transaction, _args: Record<never, never>): Promise<void> {
  const lost = await tx.all<{ id: string; node: string }>(lostNodes(BATCH_SIZE))
  for (const [node, sockets] of Map.groupBy(lost, row => row.node))
    await closeSockets(tx, {
      node,
      sockets: sockets.map(({ id }) => ({ id, status: 'websocket_network_error' as const })),
    })
  await tx.run(
    sql`delete from turns where name like ${nodeTurn('%')} and until < ${storeClock}
          and not exists (select 1 from event_sockets s where turns.name = ${nodeTurn('')} || s.node)`,
  )
}
