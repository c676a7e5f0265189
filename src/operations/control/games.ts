import type { Static } from 'typebox'
import { createGame, deleteGame, getGame, listGames, putGame } from '../../contract/control/games.ts'
import { refuse } from '../../contract/problem.ts'
import { decimalId } from '../../kit/id.ts'
import { decimalSortKey } from '../../store/keyset-order.ts'
import type { Store } from '../../store/store.ts'
import { answerOne, answerPage, implement } from '../implement.ts'

export const handleCreateGame = implement(createGame, async ({ body }, { store, clock }) =>
  saveGame(store, { id: decimalId(clock.now()), isNew: true }, body),
)

export const handlePutGame = implement(putGame, async ({ params, body }, { store }) =>
  saveGame(store, { id: params.game_id }, body),
)

async function saveGame(
  store: Store,
  which: { id: string; isNew?: boolean },
  body: Static<typeof putGame.body>,
) {
  const organization_id = body.organization_id?.toLowerCase() ?? body.organization_id
  return answerOne(await store.commands.putGame({ ...which, ...body, organization_id }))
}

export const handleGetGame = implement(getGame, async ({ params: { game_id } }, { store }) =>
  answerOne((await store.games.find(game_id)) ?? refuse('not_found', 'game', game_id)),
)

export const handleListGames = implement(listGames, async ({ query, window, paginate }, { store }) =>
  answerPage(await store.games.page(query, window), decimalSortKey, paginate),
)

export const handleDeleteGame = implement(deleteGame, ({ params }, { store }) =>
  store.commands.deleteGame({ id: params.game_id }),
)
