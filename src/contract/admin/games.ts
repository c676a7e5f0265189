import { listBenefits } from '../control/benefits.ts'
import { listEntitlements } from '../control/entitlements.ts'
import { createGame, deleteGame, getGame, listGames, putGame } from '../control/games.ts'
import { getStreams } from '../helix/get-streams.ts'
import { searchCategories } from '../helix/search-categories.ts'
import { REEF } from './examples.ts'
import { action, createForm, editForm, type Resource, removeForm } from './resource.ts'

const create = action('create', createGame, [`"Kelp Run" --org ${REEF}`], {
  arguments: ['name'],
  form: createForm('Create game', 'The game was created.'),
})
const set = action(
  'set',
  putGame,
  [`33214 --name Tidefall --org ${REEF} --igdb 90210`, '33215 --name "Sand Castles" --no-org'],
  { form: editForm(getGame, 'The game was changed.') },
)
const list = action('list', listGames, [`--org ${REEF}`], { columns: ['id', 'name', 'organization_id'] })
const show = action('show', getGame, ['33214'])
const remove = action('delete', deleteGame, ['33215 --yes'], {
  confirm: 'final',
  form: removeForm('The game was deleted.'),
})

export const games: Resource = {
  nouns: [{ words: 'game', meaning: 'games', actions: [create, set, list, show, remove] }],
  tables: [
    {
      path: 'games',
      title: 'Games',
      one: 'game',
      group: 'Drops',
      list: listGames,
      get: getGame,
      key: 'id',
      name: 'name',
      columns: ['name', 'id', 'organization_id', 'igdb_id'],
      findBy: 'name',
      search: { operation: searchCategories, key: 'id', name: 'name' },
      empty: 'There are no games yet.',
      create,
      actions: [set, remove],
      parts: [
        { title: 'Live streams', operation: getStreams, by: 'game_id', of: 'streams' },
        { title: 'Benefits', operation: listBenefits, by: 'game_id', of: 'benefits' },
        { title: 'Entitlements', operation: listEntitlements, by: 'game_id', of: 'entitlements' },
      ],
    },
  ],
}
