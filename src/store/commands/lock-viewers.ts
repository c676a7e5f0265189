import { NO_SLOTS, type SlotSet } from '../../domain/watched-minutes.ts'
import type { Lookup } from '../combinable.ts'
import type { Transaction } from '../database.ts'
import { isOneOf, lockRows, sql } from '../sql/tag.ts'

/** The viewer is not suspended. */
const isActive = sql`not exists (select 1 from users u where u.id = watched_minutes.user_id and u.suspended_at is not null)`

/**
 * Locks viewers in id order, and returns what each has watched lately; users who do not exist or are suspended are left out (D-272). Whatever changes
 * the minutes or claims of a viewer locks the viewer first, so that each of several that come at once sees the one before.
 */
export async function lockViewers(
  tx: Transaction,
  user_ids: readonly string[],
): Promise<Map<string, SlotSet>> {
  const known = new Map<string, SlotSet>()
  const lock = async (ids: readonly string[]) => {
    const rows = await tx.all<SlotSet & { readonly user_id: string }>(
      sql`select user_id, slot, recent from watched_minutes where ${isOneOf(sql`user_id`, ids)} and ${isActive}
          order by user_id${lockRows}`,
    )
    for (const { user_id, slot, recent } of rows) known.set(user_id, { slot, recent })
  }
  await lock(user_ids)
  const missing = user_ids.filter(id => !known.has(id))
  if (missing.length === 0) return known
  // Rows that exist are locked by now, and these are added in id order: two commands cannot wait for each other.
  await tx.run(
    sql`insert into watched_minutes (user_id, slot, recent)
        select id, cast(${NO_SLOTS.slot} as integer), cast(${NO_SLOTS.recent} as integer) from users
        where ${isOneOf(sql`id`, missing)} and suspended_at is null order by id on conflict (user_id) do nothing`,
  )
  await lock(missing)
  return known
}

/**
 * Locks one viewer, together with those of other commands in the transaction. False if there is no such user, or it is
 * suspended. Within a group
 * also false if another transaction holds the row: the command then runs again, alone.
 */
export async function lockViewer(tx: Transaction, user_id: string): Promise<boolean> {
  const lock = async () => (await tx.lookUp(lockedViewer, [user_id])).length > 0
  if (await lock()) return true
  const [stored] = await tx.lookUp(storedViewer, [user_id])
  return stored === undefined ? (await lockViewers(tx, [user_id])).size > 0 : lock()
}

const storedViewer: Lookup<{ readonly user_id: string }> = {
  column: 'user_id',
  select: sql`select user_id from watched_minutes`,
  by: sql`user_id`,
}

const lockedViewer: Lookup<{ readonly user_id: string }> = { ...storedViewer, where: isActive, locks: true }
