import { isoMillis } from '../../kit/clock.ts'
import type { Transaction } from '../database.ts'
import type { SessionId } from '../queries/media-servers.ts'
import { sql } from '../sql/tag.ts'

/** Ends the live session of a channel, and orders that its publisher be disconnected. */
export async function dismissPublisher(
  tx: Transaction,
  args: { user_id: string; now: number },
): Promise<void> {
  const now = isoMillis(args.now)
  await tx.run(
    sql`update publish_sessions set ended_at = ${now}, dismissed_at = ${now}
        where user_id = ${args.user_id} and ended_at is null`,
  )
}

/** Notes that the publisher of a session was disconnected. */
export async function settleDismissal(tx: Transaction, args: SessionId): Promise<void> {
  await tx.run(
    sql`update publish_sessions set dismissed_at = null
        where adapter = ${args.adapter} and server = ${args.server} and session = ${args.session}`,
  )
}
