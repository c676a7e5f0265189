import { searchCategories } from '../../contract/helix/search-categories.ts'
import { refuse } from '../../contract/problem.ts'
import { parseGameSearch } from '../../domain/search/game-search.ts'
import { foundSortKey } from '../../store/queries/game-search.ts'
import { implement } from '../implement.ts'
import { renderCategory } from '../render-category.ts'

export const handleSearchCategories = implement(
  searchCategories,
  async ({ query, window, paginate }, { store, publicUrl }) => {
    const search = parseGameSearch(query.query)
    if (search === undefined) return refuse('missing_parameter', 'query')
    const page = await store.games.search(search, window)
    return {
      data: page.rows.map(game => renderCategory(game, publicUrl)),
      pagination: paginate(page, foundSortKey(search)),
    }
  },
)
