import type { Page, PageRequest } from '../../contract/page.ts'
import type { OperatorToken } from '../../contract/resources/operator.ts'
import type { Database } from '../database.ts'
import { keysetPage } from '../keyset.ts'
import { orderBy } from '../keyset-order.ts'
import { sql } from '../sql/tag.ts'

const BY_NAME = orderBy('name')
export const operatorSortKey = BY_NAME.sortKey

export const operatorQueries = (db: Database) => ({
  /** The operator whose token has this hash. */
  withToken: async (hash: string): Promise<string | undefined> =>
    (await db.get<{ name: string }>(sql`select name from operator_tokens where hash = ${hash}`))?.name,

  page: (window: PageRequest): Promise<Page<OperatorToken>> =>
    keysetPage<OperatorToken>(db, {
      select: sql`select name, created_at from operator_tokens`,
      order: BY_NAME,
      window,
    }),
})
