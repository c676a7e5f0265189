import { anyToken } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { MAX_LOOK_UP, rowsSchema } from '../page.ts'
import { Category, exampleCategory } from '../resources/category.ts'
import { IdFilter } from '../resources/id.ts'
import { Type } from '../schema.ts'

const values = { maxItems: MAX_LOOK_UP }

/** Decisions D-61 to D-63, D-74. */
export const getGames = defineOperation('GET /helix/games', {
  id: 'GetGames',
  summary: 'Get games by id, name or IGDB id.',
  description:
    'Games are in the order of the request, first by id, then by name, then by IGDB id, each once; unknown games are absent. ' +
    'Games that share a name or an IGDB id are in the order of their ids. At most 100 values together.',
  access: anyToken,
  query: Type.Object({
    id: Type.Optional(Type.Array(IdFilter, values)),
    name: Type.Optional(Type.Array(Type.String({ description: 'The exact name, case included.' }), values)),
    igdb_id: Type.Optional(Type.Array(Type.String(), values)),
  }),
  lookUpBy: ['id', 'name', 'igdb_id'],
  returns: rowsSchema(Category),
  problems: ['none_given'],
  example: {
    query: { name: [exampleCategory.name] },
    answer: { data: [exampleCategory] },
  },
})
