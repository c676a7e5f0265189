import { anyToken } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { pageOf } from '../page.ts'
import { Category, exampleCategory } from '../resources/category.ts'

/** Decisions D-61, D-64, D-75. */
export const getTopGames = defineOperation('GET /helix/games/top', {
  id: 'GetTopGames',
  summary: 'List games with live streams, most viewers first.',
  description:
    'Games are ordered by the viewers of all their live streams together; streams without a game do not count. Paging through the list returns every game that has a live stream throughout exactly once.',
  access: anyToken,
  page: { standard: 20, before: true },
  returns: pageOf(Category),
  example: {
    query: { first: 20 },
    answer: { data: [exampleCategory], pagination: {} },
  },
})
