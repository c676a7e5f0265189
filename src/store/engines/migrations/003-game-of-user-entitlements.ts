import type { Dialect } from '../../sql/tag.ts'

/**
 * Entitlements of a user are found by one index and then read row by row. With the game in the index, rows of other games
 * are skipped without reading them, which matters in a table of a million rows.
 */
export const gameOfUserEntitlements = (_dialect: Dialect): string => `
drop index if exists entitlements_by_user;
create index if not exists entitlements_by_user
  on entitlements (organization_id, user_id, timestamp, id, game_id);
`
