import type { Database } from '../database.ts'
import { isOneOf, limitedTo, type Sql, sql, storeClock } from '../sql/tag.ts'

/** The name of the lease by which a node shows that it is alive. */
export const nodeTurn = (node: string): string => `event-sockets/${node}`

/** WebSockets of nodes whose lease has ended. */
export const lostNodes = (most: number): Sql =>
  sql`select s.id, s.node from event_sockets s
      where not exists (
        select 1 from turns t where t.name = ${nodeTurn('')} || s.node and t.until >= ${storeClock})
      ${limitedTo(most)}`

export const eventSocketQueries = (db: Database) => ({
  /** Which of these WebSockets have a subscription. */
  used: async (ids: readonly string[]): Promise<string[]> => {
    const rows = await db.all<{ session_id: string }>(
      sql`select distinct session_id from event_subscriptions where ${isOneOf(sql`session_id`, ids)}`,
    )
    return rows.map(row => row.session_id)
  },

  ofNode: async (node: string): Promise<string[]> => {
    const rows = await db.all<{ id: string }>(sql`select id from event_sockets where node = ${node}`)
    return rows.map(row => row.id)
  },

  hasLost: async (): Promise<boolean> => (await db.get(lostNodes(1))) !== undefined,
})
