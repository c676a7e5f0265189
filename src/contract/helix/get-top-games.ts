import { anyToken } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { pageSchema } from '../page.ts'
import { Category, exampleCategory } from '../resources/category.ts'

/** Decisions D-61, D-64, D-75. */
export const getTopGames = defineOperation('GET /helix/games/top', {
  id: 'GetTopGames',
  summary: 'List games with live streams, most viewers first.',
  description:
    'Games are ordered by the viewers of all their live streams together; streams without a game do not count. Paging through the list returns every game that has a live stream throughout exactly once.',
  access: anyToken,
  page: { default: 20, maximum: 100, before: true },
  returns: pageSchema(Category),
  example: {
    query: { first: 20 },
    answer: { data: [exampleCategory], pagination: {} },
  },
})
