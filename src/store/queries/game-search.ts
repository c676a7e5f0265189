/**
 * Finds games by the words of their names (D-76).
 *
 * Names that begin with the search are a range of an index, in another order than that of the answer, so the range is read
 * to its end and the best rows are kept. No index finds the other names: if the page has room for them, all names are read
 * in the order of the answer until it is full. Both are read in steps, and other work can run between them.
 */
import type { Key, Page, PageRequest } from '../../contract/page.ts'
import type { Game } from '../../contract/resources/game.ts'
import { compareFound, FIT, type GameSearch, rateFit } from '../../domain/search/game-search.ts'
import type { Database } from '../database.ts'
import { filteredPage, keysetPage } from '../keyset.ts'
import { inOrderThenByNumber } from '../keyset-order.ts'
import { sql } from '../sql/tag.ts'

type FoundGame = Pick<Game, 'id' | 'name' | 'igdb_id'>

type NamedGame = FoundGame & { readonly name_normalized: string }

/** Rows read in one step: a millisecond or two. */
const STEP = 1000
/** Names read for one page at most: some 0.2 s of work. */
const MAX_NAMES = 100_000

const columns = sql`select id, name, igdb_id, name_normalized from games`
const BY_FOLDED_NAME = inOrderThenByNumber(['name_normalized'], 'id')
const BY_NAME = inOrderThenByNumber(['name'], 'id')

/** The key of a found game, for the cursor. */
export const foundSortKey =
  (search: GameSearch) =>
  ({ id, name, name_normalized }: NamedGame) => [
    rateFit(search, name_normalized) ?? FIT.words,
    name,
    id.length,
    id,
  ]

export async function searchGames(
  db: Database,
  search: GameSearch,
  window: PageRequest,
): Promise<Page<NamedGame>> {
  const { first, from } = window
  const [fit = FIT.exact, ...place] = from ?? []
  const begun = fit === FIT.words ? [] : await beginningWith(db, search, window)
  if (begun.length > first) return { rows: begun.slice(0, first), more: true }
  const rest = await filteredPage<NamedGame>(db, {
    select: columns,
    order: BY_NAME,
    window: {
      first: first - begun.length,
      direction: 'forward',
      ...(fit === FIT.words && { from: place }),
    },
    filter: ({ name_normalized }) => rateFit(search, name_normalized) === FIT.words,
    step: STEP,
    most: MAX_NAMES,
  })
  const rows = [...begun, ...rest.rows]
  if (rest.span === undefined) return { rows, more: rest.more }
  const asFound = (key: Key) => [FIT.words, ...key]
  return { rows, more: true, span: { first: asFound(rest.span.first), last: asFound(rest.span.last) } }
}

/** The first games behind the window's start whose names begin with the text, and one more. */
async function beginningWith(
  db: Database,
  search: GameSearch,
  { first, from }: PageRequest,
): Promise<readonly NamedGame[]> {
  const sortKey = foundSortKey(search)
  let best: readonly { row: NamedGame; key: Key }[] = []
  let start = [search.text, 0, '']
  for (;;) {
    const { rows, more } = await keysetPage<NamedGame>(db, {
      select: columns,
      order: BY_FOLDED_NAME,
      window: { first: STEP, direction: 'forward', from: start },
    })
    const fitting = rows.filter(row => row.name_normalized.startsWith(search.text))
    const worst = best[first]?.key
    const better = fitting
      .map(row => ({ row, key: sortKey(row) }))
      .filter(({ key }) => from === undefined || compareFound(key, from) > 0)
      .filter(({ key }) => worst === undefined || compareFound(key, worst) < 0)
    best = [...best, ...better].sort((a, b) => compareFound(a.key, b.key)).slice(0, first + 1)
    const last = rows.at(-1)
    if (!more || fitting.length < rows.length || last === undefined) return best.map(({ row }) => row)
    start = [last.name_normalized, last.id.length, last.id]
    await Bun.sleep(0)
  }
}
