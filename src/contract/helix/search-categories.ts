import { anyToken } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { listing } from '../page.ts'
import { Category, exampleCategory } from '../resources/category.ts'
import { Type } from '../schema.ts'

/** Decisions D-61, D-64, D-76. */
export const searchCategories = defineOperation('GET /helix/search/categories', {
  id: 'SearchCategories',
  summary: 'Find games by the words of their names.',
  description:
    'Every word of the query must occur in the name, in any case. A game of exactly that name comes first, then names that begin with the query, then the others, each by name and id.',
  access: anyToken,
  query: Type.Object({
    query: Type.String({ maxLength: 500, description: 'One or more words, or parts of words.' }),
  }),
  ...listing(Category),
  example: {
    query: { query: 'tide' },
    answer: { data: [exampleCategory], pagination: {} },
  },
})
