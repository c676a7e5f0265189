import type { Dialect } from '../../sql/tag.ts'

/**
 * Entitlements of a user are found by one index and then looked at one by one. With the game in it, those of other games
 * are passed over without a look at the row, which stands elsewhere in a table of a million.
 */
export const gameOfUserEntitlements = (_dialect: Dialect): string => `
drop index if exists entitlements_by_user;
create index if not exists entitlements_by_user
  on entitlements (organization_id, user_id, timestamp, id, game_id);
`
