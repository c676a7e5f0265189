import type { Dialect } from '../../sql/tag.ts'

/**
 * Which clients may use the device flow, and limits on how many rows unauthenticated callers can create.
 *
 * A client without a row in `device_flow_clients` has the default of its kind: public clients may, confidential ones may not.
 * So existing clients need no row. The network of the caller is stored with a device code, so that codes can be counted by
 * network. The indexes give the tokens, codes and sessions to delete, oldest first; each replaces an index that is its
 * prefix.
 */
export const oauthLimits = ({ key }: Dialect): string => `
create table if not exists device_flow_clients (
  client_id ${key} primary key references clients (id) on delete cascade,
  enabled integer not null
);

create table if not exists device_code_networks (
  hash ${key} primary key references device_codes (hash) on delete cascade,
  network ${key} not null,
  expires_at ${key} not null
);
create index if not exists device_code_networks_in_order on device_code_networks (network, expires_at, hash);

drop index if exists device_codes_by_client;
create index if not exists device_codes_of_client on device_codes (client_id, expires_at, hash);

drop index if exists authorization_codes_by_user;
create index if not exists authorization_codes_of_user
  on authorization_codes (user_id, client_id, expires_at, hash);

drop index if exists tokens_by_client;
create index if not exists tokens_of_client on tokens (client_id, kind, expires_at, hash);
drop index if exists tokens_by_family;
create index if not exists tokens_of_family on tokens (family, kind, expires_at, hash);
drop index if exists tokens_by_user;
create index if not exists tokens_of_user on tokens (user_id, client_id, family);
`
