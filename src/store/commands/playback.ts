import { countSessions } from '../../domain/playback.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import { lapsedViewers } from '../queries/streams.ts'
import { isOneOf, limitedTo, lockRows, sql, valuesTable } from '../sql/tag.ts'
import { reportViewers } from './streams.ts'

const BATCH_SIZE = 1000

/**
 * Replaces the playback sessions that a node heard of, and sets the viewer counts of their channels to the number of
 * sessions of all nodes. Whichever node reports next also removes what a stopped node left behind, so none of them leads.
 */
export async function reportPlayback(
  tx: Transaction,
  args: {
    node: string
    /** Session ids, one after another; empty if there are none any more. */
    channels: readonly { readonly user_id: string; readonly sessions: string }[]
    now: number
  },
): Promise<void> {
  const rows = args.channels.map(channel => ({ ...channel }))
  if (rows.length > 0)
    await tx.run(
      sql`insert into playback_viewers (user_id, node, sessions, reported_at)
          select user_id, cast(${args.node} as text), sessions, cast(${isoMillis(args.now)} as text)
          from ${valuesTable(rows, ['user_id', 'sessions'])} as given where 1 = 1
          on conflict (user_id, node) do update set sessions = excluded.sessions, reported_at = excluded.reported_at`,
    )
  const removed = await tx.all<{ user_id: string }>(
    sql`delete from playback_viewers
        where (node = ${args.node} and sessions = '' and ${isOneOf(
          sql`user_id`,
          rows.map(({ user_id }) => user_id),
        )})
          or (user_id, node) in (
            select user_id, node from playback_viewers where ${lapsedViewers(args.now)}${limitedTo(BATCH_SIZE)})
        returning user_id`,
  )
  const touched = [...new Set([...rows, ...removed].map(({ user_id }) => user_id))]
  // Locked before the sessions are read: of two nodes that report at once, the second sees what the first wrote.
  const live = await tx.all<{ user_id: string }>(
    sql`select user_id from streams where ${isOneOf(sql`user_id`, touched)}
        order by user_id${lockRows}`,
  )
  const heard = await tx.all<{ user_id: string; sessions: string }>(
    sql`select user_id, sessions from playback_viewers where ${isOneOf(
      sql`user_id`,
      live.map(({ user_id }) => user_id),
    )}`,
  )
  const lists = Map.groupBy(heard, ({ user_id }) => user_id)
  const counts = live.map(
    ({ user_id }) =>
      [user_id, countSessions((lists.get(user_id) ?? []).map(({ sessions }) => sessions))] as const,
  )
  await reportViewers(tx, { counts })
}
