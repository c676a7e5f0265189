/**
 * Every combination of filters of these lists is a range of an index. Before, the rows of one user or one game were read one
 * after the other, however many did not match.
 */
export const listFilters = (): string => `
create index if not exists organization_entitlements_of_user
  on organization_entitlements (user_id, (organization + 0), fulfilled, timestamp, id);
create index if not exists organization_entitlements_of_user_and_game
  on organization_entitlements (user_id, game_id, (organization + 0), fulfilled, timestamp, id);
drop index if exists organization_entitlements_by_user;
drop index if exists organization_entitlements_by_user_and_game;
create index if not exists games_of_organization_with_name on games (organization_id, name, length(id), id);
create index if not exists benefits_of_organization_and_game on benefits (organization_id, game_id, id);
create index if not exists clients_of_organization_and_owner on clients (organization_id, owner_user_id, id);
`
