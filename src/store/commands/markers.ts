import type { StreamMarker } from '../../contract/resources/marker.ts'
import { markerPosition } from '../../domain/timeline.ts'
import { isoMillis, isoSeconds } from '../../kit/clock.ts'
import type { Transaction } from '../database.ts'
import { channelQueries } from '../queries/world.ts'
import { lockRows, sql } from '../sql/tag.ts'

export type MarkerOutcome =
  | { outcome: 'done'; marker: StreamMarker }
  | { outcome: 'reused_key' }
  | { outcome: 'user_not_found' }
  | { outcome: 'not_live' | 'vods_off' | 'forbidden'; login: string }

/**
 * Marks the current moment. A key that was used before decides first: a replay is answered with the first marker even
 * after the stream has ended (D-39). The stream's row is locked, so that positions never go backwards (D-38).
 */
export async function createMarker(
  tx: Transaction,
  args: {
    marker_id: string
    broadcaster_id: string
    description: string
    caller: { client_id: string; user_id: string }
    idempotency?: { key: string; fingerprint: string } | undefined
    now: number
  },
): Promise<MarkerOutcome> {
  const { caller, idempotency } = args
  if (idempotency !== undefined) {
    const first = await tx.get<{ fingerprint: string; answer: string }>(
      sql`select fingerprint, answer from idempotency_keys
          where client_id = ${caller.client_id} and user_id = ${caller.user_id} and name = ${idempotency.key}
            and created_at > ${isoMillis(args.now - IDEMPOTENCY_MILLISECONDS)}`,
    )
    if (first !== undefined) {
      if (first.fingerprint !== idempotency.fingerprint) return { outcome: 'reused_key' }
      return { outcome: 'done', marker: JSON.parse(first.answer) }
    }
  }

  const user = await tx.get<{ login: string; vod_enabled: number }>(
    sql`select u.login, c.vod_enabled from users u join channels c on c.user_id = u.id
        where u.id = ${args.broadcaster_id}`,
  )
  if (user === undefined) return { outcome: 'user_not_found' }
  const stream = await tx.get<{ video_id: string | null; started_at: string }>(
    sql`select video_id, started_at from streams where user_id = ${args.broadcaster_id}${lockRows}`,
  )
  const { login } = user
  if (stream === undefined) return { outcome: 'not_live', login }
  if (stream.video_id === null || user.vod_enabled === 0) return { outcome: 'vods_off', login }
  if (!(await mayMark(tx, args.broadcaster_id, caller.user_id))) return { outcome: 'forbidden', login }

  const latest = await tx.get<{ position_seconds: number }>(
    sql`select position_seconds from markers where video_id = ${stream.video_id}
        order by position_seconds desc, id desc limit 1`,
  )
  const marker: StreamMarker = {
    id: args.marker_id,
    created_at: isoSeconds(args.now),
    description: args.description,
    position_seconds: markerPosition(stream.started_at, args.now, latest?.position_seconds),
  }
  await tx.run(
    sql`insert into markers (id, video_id, position_seconds, description, created_at)
        values (${marker.id}, ${stream.video_id}, ${marker.position_seconds}, ${marker.description}, ${marker.created_at})`,
  )
  if (idempotency !== undefined) {
    // One of two that arrive together inserts; on PostgreSQL the other waits here, conflicts, and is run again.
    await tx.run(
      sql`delete from idempotency_keys where client_id = ${caller.client_id} and user_id = ${caller.user_id}
            and name = ${idempotency.key} and created_at <= ${isoMillis(args.now - IDEMPOTENCY_MILLISECONDS)}`,
    )
    await tx.run(
      sql`insert into idempotency_keys (client_id, user_id, name, fingerprint, answer, created_at)
          values (${caller.client_id}, ${caller.user_id}, ${idempotency.key}, ${idempotency.fingerprint},
            ${JSON.stringify(marker)}, ${isoMillis(args.now)})`,
    )
  }
  return { outcome: 'done', marker }
}

/** A key is remembered for 24 hours. */
export const IDEMPOTENCY_MILLISECONDS = 24 * 3600 * 1000

async function mayMark(tx: Transaction, broadcaster_id: string, user_id: string): Promise<boolean> {
  return broadcaster_id === user_id || channelQueries(tx).hasEditor(broadcaster_id, user_id)
}
