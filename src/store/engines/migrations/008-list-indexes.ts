import type { Dialect } from '../../sql/tag.ts'

/**
 * Every list reads along an index, whatever its filter (see `store/keyset.ts`). Entitlements, where each index costs a write
 * per row, have five besides the key instead of seven: those with the status before the time serve lists by status and, with
 * two ranges merged, lists of both. The audit index by time is dropped too, because lists merge the ranges of all operations.
 * The other indexes get the columns of the order after those of the filter.
 *
 * A column is written as an expression where the planner must not choose this index for a list that has one with more
 * columns: it would skip row after row if it assumes that most of them match.
 */
export const listIndexes = (_dialect: Dialect): string => `
create index if not exists entitlements_with_status on entitlements ((fulfillment_status || ''), timestamp, id);
create index if not exists entitlements_of_user on entitlements (user_id, timestamp, id);
create index if not exists entitlements_of_benefit
  on entitlements (benefit_id, game_id, fulfillment_status, timestamp, id);
drop index if exists entitlements_of_all;
drop index if exists entitlements_in_order;
drop index if exists entitlements_by_user;
drop index if exists entitlements_by_game;
drop index if exists entitlements_by_benefit;

create index if not exists audit_by_actor_and_operation on audit (actor, (operation || ''), at);
drop index if exists audit_by_actor;
drop index if exists audit_in_order;

create index if not exists games_of_organization on games (organization_id, length(id), id);
create index if not exists games_with_name on games (name, length(id), id);
drop index if exists games_by_organization;
drop index if exists games_by_name;

create index if not exists organizations_with_name on organizations (name, id);
drop index if exists organizations_by_name;

create index if not exists benefits_of_organization on benefits (organization_id, id);
create index if not exists benefits_of_game on benefits (game_id, id);
drop index if exists benefits_by_organization;
drop index if exists benefits_by_game;

create index if not exists clients_of_organization on clients (organization_id, id);
create index if not exists clients_of_owner on clients (owner_user_id, id);
drop index if exists clients_by_organization;
drop index if exists clients_by_owner;
`
