import { createGame, deleteGame, getGame, listGames, putGame } from '../../contract/control/games.ts'
import { raise } from '../../contract/problem.ts'
import { decimalId } from '../../kit/id.ts'
import { decimalSortKey } from '../../store/queries/world.ts'
import type { Store } from '../../store/store.ts'
import { implement } from '../implement.ts'

export const handleCreateGame = implement(createGame, async ({ body }, { store, clock }) =>
  keepGame(store, { id: decimalId(clock.now()), isNew: true }, body),
)

export const handlePutGame = implement(putGame, async ({ params, body }, { store }) =>
  keepGame(store, { id: params.game_id }, body),
)

async function keepGame(
  store: Store,
  which: { id: string; isNew?: boolean },
  body: { name?: string; organization_id?: string | null },
) {
  const result = await store.commands.putGame({
    ...which,
    name: body.name,
    organization_id: body.organization_id?.toLowerCase() ?? body.organization_id,
  })
  if (result.outcome === 'name_missing') return raise('missing_parameter', 'name')
  if (result.outcome === 'unknown_reference') return raise('unknown_reference', result.kind, result.id)
  return { data: [result.game] }
}

export const handleGetGame = implement(getGame, async ({ params }, { store }) => {
  const game = (await store.games.find(params.game_id)) ?? raise('not_found', 'game', params.game_id)
  return { data: [game] }
})

export const handleListGames = implement(listGames, async ({ query, window, paginate }, { store }) => {
  const page = await store.games.page(query, window)
  return { data: [...page.rows], pagination: paginate(page, decimalSortKey) }
})

export const handleDeleteGame = implement(deleteGame, async ({ params }, { store }) => {
  const outcome = await store.commands.deleteGame({ id: params.game_id })
  if (outcome === 'in_use') raise('in_use', 'The game has benefits or entitlements; it must stay.')
  return outcome === 'deleted' ? undefined : raise('not_found', 'game', params.game_id)
})
