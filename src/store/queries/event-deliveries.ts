import type { Database } from '../database.ts'
import { limitedTo, sql, storeClock } from '../sql/tag.ts'

export const eventDeliveryQueries = (db: Database) => ({
  /**
   * Targets with this prefix that have a message which is due, in order after `after`. Steps from target to target along the
   * index, however many messages each has.
   */
  dueTargets: (prefix: string, after: string, most: number) =>
    db.all<{ target: string }>(
      sql`with recursive targets (target) as (
            select min(target) from event_deliveries
            where due_at is not null and target > ${after} and target < ${`${prefix}\u{10ffff}`}
            union all
            select (select min(target) from event_deliveries
                    where due_at is not null and target > targets.target and target < ${`${prefix}\u{10ffff}`})
            from targets where targets.target is not null)
          select target from targets
          where target is not null and exists (
            select 1 from event_deliveries d where d.target = targets.target and d.due_at <= ${storeClock})
          ${limitedTo(most)}`,
    ),
})
