import type { Page, PageRequest } from '../../contract/page.ts'
import type { Game } from '../../contract/resources/game.ts'
import type { GameSearch } from '../../domain/search/game-search.ts'
import { normalizeName } from '../../domain/search/normalize-name.ts'
import { Columns, plain } from '../columns.ts'
import type { Database } from '../database.ts'
import { keysetPage } from '../keyset.ts'
import { BY_NUMBER } from '../keyset-order.ts'
import { isOneOf, sql, statement } from '../sql/tag.ts'
import { searchGames } from './game-search.ts'
import { called, type NameFilter, type OrganizationFilter, ofOrganization } from './list-filters.ts'

export const gameColumns = new Columns<Game>(
  'games',
  { id: plain, name: plain, organization_id: plain, igdb_id: plain },
  { name_normalized: ({ name }) => normalizeName(name) },
)
const { select } = gameColumns

const gameWithId = statement(['id'], ({ id }) => sql`${select} where id = ${id}`)

export const gameQueries = (db: Database) => ({
  find: (id: string) => db.get<Game>(gameWithId({ id })),
  withIds: (ids: readonly string[]) => db.all<Game>(sql`${select} where ${isOneOf(sql`id`, ids)}`),
  withNames: (names: readonly string[]) =>
    db.all<Game>(sql`${select} where ${isOneOf(sql`name`, names)} order by length(id), id`),
  withIgdbIds: (ids: readonly string[]) =>
    db.all<Game>(
      sql`${select} where ${isOneOf(sql`igdb_id`, ids)} and igdb_id <> '' order by length(id), id`,
    ),
  search: (search: GameSearch, window: PageRequest) => searchGames(db, search, window),
  page: (filter: OrganizationFilter & NameFilter, window: PageRequest): Promise<Page<Game>> =>
    keysetPage<Game>(db, {
      select,
      where: [...ofOrganization(filter), ...called(filter)],
      order: BY_NUMBER,
      window,
    }),
})
