import { isoMillis } from '../../kit/time/clock.ts'
import type { RowWrite } from '../combinable.ts'
import type { Transaction } from '../database.ts'
import type { SessionId } from '../queries/media-servers.ts'
import { sql, valuesTable } from '../sql/tag.ts'

const dismissed: RowWrite<{ readonly user_id: string; readonly now: string }> = rows =>
  sql`update publish_sessions set ended_at = d.now, dismissed_at = d.now
      from ${valuesTable(rows, ['user_id', 'now'])} as d
      where publish_sessions.user_id = d.user_id and publish_sessions.ended_at is null`

/** Ends the live session of a channel, and orders that its publisher be disconnected. */
export async function disconnectPublisher(
  tx: Transaction,
  { user_id, now }: { user_id: string; now: number },
): Promise<void> {
  await tx.write(dismissed, { user_id, now: isoMillis(now) })
}

/** Orders that the publishers of a user who is being deleted be disconnected. The order outlives their sessions. */
export async function dismissDeparted(
  tx: Transaction,
  { user_id, now }: { user_id: string; now: number },
): Promise<void> {
  const at = isoMillis(now)
  await tx.run(
    sql`insert into disconnected_publishers (adapter, server, session, login, departed_at, dismissed_at)
        select p.adapter, p.server, p.session, p.published_as, cast(${at} as text), cast(${at} as text)
        from publish_sessions p
        where p.user_id = ${user_id} and (p.ended_at is null or p.dismissed_at is not null) and p.adapter <> 'embedded'
        on conflict (adapter, server, session) do update
          set login = excluded.login, departed_at = excluded.departed_at, dismissed_at = excluded.dismissed_at`,
  )
}

/** Notes that the publisher of a session was disconnected. */
export async function settleDismissal(tx: Transaction, args: SessionId): Promise<void> {
  const isSession = sql`adapter = ${args.adapter} and server = ${args.server} and session = ${args.session}`
  await tx.run(sql`update publish_sessions set dismissed_at = null where ${isSession}`)
  await tx.run(sql`update disconnected_publishers set dismissed_at = null where ${isSession}`)
}
