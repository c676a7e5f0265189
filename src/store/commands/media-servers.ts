import { type Refusal, refuse } from '../../contract/problem.ts'
import type { MediaServer } from '../../contract/resources/media-server.ts'
import { type Changes, changed } from '../../domain/changes.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import { mediaServerColumns, mediaServerQueries } from '../queries/media-servers.ts'
import { sql } from '../sql/tag.ts'
import { closeOtherSessions } from './publish-sessions.ts'
import { refuseUnknown } from './references.ts'

const mediaServerSubject = (name: string): string => `media-server/${name}`

/** Creates or updates a media server. The secret is used only if it is new. */
export async function putMediaServer(
  tx: Transaction,
  args: Changes<MediaServer> & Pick<MediaServer, 'name' | 'adapter' | 'created_at'> & { secret_hash: string },
): Promise<
  { server: MediaServer; isNew: boolean } | Refusal<'in_use' | 'unknown_reference' | 'refused_reference'>
> {
  const unknown = await refuseUnknown(tx, { user: [args.user_id ?? null] })
  if (unknown !== undefined) return unknown
  const { name, adapter } = args
  await tx.lock(sql`select name from media_servers where name = ${name}`, 'media_servers')
  const before = await mediaServerQueries(tx).find(name)
  if (before !== undefined && before.adapter !== adapter)
    return refuse('in_use', `The media server "${name}" has the adapter ${before.adapter}; remove it first.`)
  const { created_at = args.created_at } = before ?? {}
  const none = { name, adapter, api_url: null, playback_url: null, user_id: null, created_at }
  const server: MediaServer = changed<MediaServer>(before ?? none, { ...args, created_at })
  if (server.playback_url !== null && server.user_id === null && !server.playback_url.includes('{login}'))
    return refuse(
      'refused_reference',
      'The parameter "playback_url" needs {login}, unless the media server has one channel.',
    )
  if (before === undefined)
    await mediaServerColumns.insert(tx, [server], () => ({ secret_hash: args.secret_hash }))
  else await mediaServerColumns.update(tx, server)
  tx.record({ subject: mediaServerSubject(name), ...(before && { before }), after: server })
  return { server, isNew: before === undefined }
}

/** The previous secret stays valid for a while; the one before it does not. */
export async function rotateMediaServerSecret(
  tx: Transaction,
  args: { name: string; secret_hash: string; previous_until: number },
): Promise<MediaServer | Refusal<'name_not_found'>> {
  const changed = await tx.run(
    sql`update media_servers set previous_hash = secret_hash, previous_until = ${isoMillis(args.previous_until)},
          secret_hash = ${args.secret_hash}
        where name = ${args.name}`,
  )
  const server = changed === 0 ? undefined : await mediaServerQueries(tx).find(args.name)
  if (server === undefined) return refuse('name_not_found', 'media server', args.name)
  tx.record({
    subject: `${mediaServerSubject(args.name)}/secret`,
    after: { valid_until: isoMillis(args.previous_until) },
  })
  return server
}

/** Deletes a media server and ends its sessions, because nothing reports about them any more. */
export async function deleteMediaServer(
  tx: Transaction,
  args: { name: string },
): Promise<Refusal<'name_not_found'> | undefined> {
  const before = await mediaServerQueries(tx).find(args.name)
  if (before === undefined) return refuse('name_not_found', 'media server', args.name)
  await closeOtherSessions(tx, { adapter: before.adapter, server: args.name, sessions: [] })
  await tx.run(sql`delete from media_servers where name = ${args.name}`)
  tx.record({ subject: mediaServerSubject(args.name), before })
  return undefined
}
