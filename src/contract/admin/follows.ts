import { deleteFollow, listFollows, putFollow, putFollows } from '../control/follows.ts'
import { USER_COLUMNS } from './fields.ts'
import { action, type Resource } from './resource.ts'

const add = action('add', putFollow, [
  'brave_newt lunar_otter',
  'brave_newt lunar_otter --followed-at 2026-02-14T18:00:05Z',
])
const addMany = action(
  'add-many',
  putFollows,
  ['--body follows.json', '--user 25009300 --broadcaster lunar_otter'],
  { bulk: 'follows' },
)
const list = action('list', listFollows, ['brave_newt'], { columns: USER_COLUMNS })
const remove = action('remove', deleteFollow, ['brave_newt lunar_otter'], { confirm: 'undoable' })

export const follows: Resource = {
  nouns: [{ words: 'follow', meaning: 'followed channels', actions: [add, addMany, list, remove] }],
}
