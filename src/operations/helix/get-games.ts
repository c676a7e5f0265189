import { getGames } from '../../contract/helix/get-games.ts'
import { refuse } from '../../contract/problem.ts'
import type { Game } from '../../contract/resources/game.ts'
import { implement } from '../implement.ts'
import { lookUp } from '../look-up.ts'
import { renderCategory } from '../render-category.ts'

export const handleGetGames = implement(getGames, async ({ query }, { store, publicUrl }) => {
  const { id, name, igdb_id } = query
  if (!(id ?? name ?? igdb_id)) return refuse('none_given', 'id', 'name', 'igdb_id')
  const games = await lookUp<Game>(
    { values: id, find: store.games.withIds, valueIn: game => game.id },
    { values: name, find: store.games.withNames, valueIn: game => game.name },
    { values: igdb_id, find: store.games.withIgdbIds, valueIn: game => game.igdb_id },
  )
  return { data: games.map(game => renderCategory(game, publicUrl)) }
})
