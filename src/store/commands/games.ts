import { type Refusal, refuse } from '../../contract/problem.ts'
import type { Game } from '../../contract/resources/game.ts'
import { type Changes, changed } from '../../domain/changes.ts'
import type { Transaction } from '../database.ts'
import { gameColumns, gameQueries } from '../queries/games.ts'
import { sql } from '../sql/tag.ts'
import { emitChannels, findWatchedChannels } from './channel-events.ts'
import { deleteById, refuseUnknown } from './references.ts'
import { publishStreams } from './streams.ts'

export async function putGame(
  tx: Transaction,
  args: Changes<Game> & {
    readonly id: string
    /** The id was just assigned: if it exists already, that is a conflict and not a change. */
    readonly isNew?: boolean | undefined
  },
): Promise<Game | Refusal<'missing_parameter' | 'unknown_reference'>> {
  await tx.lock(sql`select id from games where id = ${args.id}`, 'games')
  const before = args.isNew ? undefined : await gameQueries(tx).find(args.id)
  const name = args.name ?? before?.name
  if (name === undefined) return refuse('missing_parameter', 'name')
  const unknown = await refuseUnknown(tx, { organization: [args.organization_id] })
  if (unknown !== undefined) return unknown
  const game = changed(before ?? { id: args.id, name, organization_id: null, igdb_id: '' }, args)
  if (before === undefined) await gameColumns.insert(tx, [game])
  else await gameColumns.update(tx, game)
  // Pages of live streams show the name, and pages of top games also the id at IGDB.
  if (before !== undefined && (before.name !== name || before.igdb_id !== game.igdb_id))
    await publishStreams(tx, sql`c.game_id = ${args.id}`)
  if (before !== undefined && before.name !== name)
    await emitChannels(tx, await findWatchedChannels(tx, args.id))
  tx.record({ subject: `game/${args.id}`, before, after: game })
  return game
}

/** Deletes a game without benefits, entitlements or campaigns. Channels that have it set are left without a game. */
export async function deleteGame(tx: Transaction, args: { id: string }) {
  const used = await tx.get(
    sql`select 1 as yes where exists (select 1 from benefits where game_id = ${args.id})
          or exists (select 1 from organization_entitlements where game_id = ${args.id})
          or exists (select 1 from campaigns where game_id = ${args.id})`,
  )
  if (used !== undefined)
    return refuse('in_use', 'The game has benefits, entitlements or campaigns; it must stay.')
  const players = await tx.all<{ user_id: string }>(
    sql`select s.user_id from streams s join channels c on c.user_id = s.user_id where c.game_id = ${args.id}`,
  )
  const watched = await findWatchedChannels(tx, args.id)
  await tx.run(sql`update channels set game_id = null where game_id = ${args.id}`)
  await emitChannels(tx, watched)
  const refused = await deleteById(tx, 'game', args.id)
  for (const { user_id } of players) await publishStreams(tx, sql`s.user_id = ${user_id}`, args.id)
  return refused
}
