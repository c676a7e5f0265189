import { type Refusal, refuse } from '../../contract/problem.ts'
import type { StreamMarker } from '../../contract/resources/marker.ts'
import { markerPosition } from '../../domain/timeline.ts'
import { isoMillis, isoSeconds } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import { lockRows, sql } from '../sql/tag.ts'
import { emitMarker } from './channel-events.ts'

/**
 * Creates a marker at the current position. The idempotency key is checked first: a replay returns the first marker even
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
): Promise<
  | StreamMarker
  | Refusal<'idempotency_key_reused' | 'user_not_found' | 'not_live' | 'vods_off' | 'marker_forbidden'>
> {
  const { caller, idempotency } = args
  if (idempotency !== undefined) {
    const first = await tx.get<{ fingerprint: string; answer: string }>(
      sql`select fingerprint, answer from idempotency_keys
          where client_id = ${caller.client_id} and user_id = ${caller.user_id} and name = ${idempotency.key}
            and created_at > ${isoMillis(args.now - IDEMPOTENCY_MILLISECONDS)}`,
    )
    if (first !== undefined) {
      const isReplay = first.fingerprint === idempotency.fingerprint
      return isReplay ? JSON.parse(first.answer) : refuse('idempotency_key_reused')
    }
  }

  await tx.lock(sql`select user_id from streams where user_id = ${args.broadcaster_id}`, 'streams')
  const found = await tx.get<MarkerContext>(
    sql`select u.login, c.vod_enabled, s.video_id, s.started_at,
          (select max(m.position_seconds) from video_markers m where m.video_id = s.video_id) as latest,
          (select 1 from editors e where e.user_id = u.id and e.editor_id = ${caller.user_id}) as is_editor
        from users u join channels c on c.user_id = u.id left join streams s on s.user_id = u.id
        where u.id = ${args.broadcaster_id} and u.suspended_at is null`,
  )
  if (found === undefined) return refuse('user_not_found', args.broadcaster_id)
  const { login, video_id, started_at } = found
  if (started_at === null) return refuse('not_live', login)
  if (video_id === null || found.vod_enabled === 0) return refuse('vods_off', login)
  if (args.broadcaster_id !== caller.user_id && found.is_editor === null)
    return refuse('marker_forbidden', login)

  const marker: StreamMarker = {
    id: args.marker_id,
    created_at: isoSeconds(args.now),
    description: args.description,
    position_seconds: markerPosition(started_at, args.now, found.latest ?? undefined),
  }
  await tx.run(
    sql`insert into video_markers (id, video_id, position_seconds, description, created_at)
        values (${marker.id}, ${video_id}, ${marker.position_seconds}, ${marker.description}, ${marker.created_at})`,
  )
  const { broadcaster_id } = args
  await emitMarker(tx, marker, { video_id, broadcaster_id, creator_id: caller.user_id })
  if (idempotency !== undefined) {
    // Of two concurrent requests one inserts; on PostgreSQL the other waits here, conflicts, and is retried.
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
  return marker
}

/** Changes the description of a marker of a channel. Who may do so is decided before. */
export async function renameMarker(
  tx: Transaction,
  args: { id: string; broadcaster_id: string; description: string },
): Promise<Refusal<'not_found'> | undefined> {
  const before = await lockMarker(tx, args)
  if (before === undefined) return refuse('not_found', 'marker', args.id)
  await tx.run(sql`update video_markers set description = ${args.description} where id = ${args.id}`)
  tx.record({
    subject: markerSubject(args),
    before: { description: before.description },
    after: { description: args.description },
  })
  return undefined
}

/** Deletes a marker of a channel. Who may do so is decided before. */
export async function deleteMarker(
  tx: Transaction,
  args: { id: string; broadcaster_id: string },
): Promise<Refusal<'not_found'> | undefined> {
  const before = await lockMarker(tx, args)
  if (before === undefined) return refuse('not_found', 'marker', args.id)
  await tx.run(sql`delete from video_markers where id = ${args.id}`)
  tx.record({ subject: markerSubject(args), before })
  return undefined
}

/** A marker of a video of this channel. */
const lockMarker = (tx: Transaction, { id, broadcaster_id }: { id: string; broadcaster_id: string }) =>
  tx.get<Omit<StreamMarker, 'id'> & { readonly video_id: string }>(
    sql`select video_id, position_seconds, description, created_at from video_markers
        where id = ${id}
          and exists (select 1 from videos v where v.id = video_markers.video_id and v.user_id = ${broadcaster_id})
        ${lockRows}`,
  )

const markerSubject = ({ id }: { id: string }): string => `marker/${id}`

/** An idempotency key is kept for 24 hours. */
export const IDEMPOTENCY_MILLISECONDS = 24 * 3600 * 1000

/** Everything needed to create a marker, read with one query. */
interface MarkerContext {
  readonly login: string
  readonly vod_enabled: number
  readonly video_id: string | null
  readonly started_at: string | null
  readonly latest: number | null
  readonly is_editor: number | null
}
