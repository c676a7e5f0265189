import { isoMillis } from '../../kit/clock.ts'
import type { RowWrite } from '../combinable.ts'
import type { Transaction } from '../database.ts'
import type { SessionId } from '../queries/media-servers.ts'
import { sql, tableOf } from '../sql/tag.ts'

const dismissed: RowWrite<{ readonly user_id: string; readonly now: string }> = rows =>
  sql`update publish_sessions set ended_at = d.now, dismissed_at = d.now
      from ${tableOf(rows, ['user_id', 'now'])} as d
      where publish_sessions.user_id = d.user_id and publish_sessions.ended_at is null`

/** Ends the live session of a channel, and orders that its publisher be disconnected. */
export async function dismissPublisher(
  tx: Transaction,
  { user_id, now }: { user_id: string; now: number },
): Promise<void> {
  await tx.write(dismissed, { user_id, now: isoMillis(now) })
}

/** Notes that the publisher of a session was disconnected. */
export async function settleDismissal(tx: Transaction, args: SessionId): Promise<void> {
  await tx.run(
    sql`update publish_sessions set dismissed_at = null
        where adapter = ${args.adapter} and server = ${args.server} and session = ${args.session}`,
  )
}
