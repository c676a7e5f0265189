import type { Dialect } from '../../sql/tag.ts'

/**
 * OAuth flows: pending authorization and device codes, browser sessions, the applications that a user has connected, and
 * whether a client may use the implicit grant. Codes and sessions are stored as hashes.
 */
export const oauth = ({ key }: Dialect): string => `
create table if not exists implicit_clients (
  client_id ${key} primary key references clients (id) on delete cascade
);

create table if not exists authorization_codes (
  hash ${key} primary key,
  client_id ${key} not null references clients (id) on delete cascade,
  user_id ${key} not null references users (id) on delete cascade,
  redirect_uri text not null,
  challenge ${key},
  scopes text not null,
  family ${key} not null,
  expires_at ${key} not null,
  used_at ${key}
);
create index if not exists authorization_codes_by_client on authorization_codes (client_id);
create index if not exists authorization_codes_by_user on authorization_codes (user_id);
create index if not exists authorization_codes_by_expiry on authorization_codes (expires_at);

create table if not exists device_codes (
  hash ${key} primary key,
  user_code ${key} not null unique,
  client_id ${key} not null references clients (id) on delete cascade,
  user_id ${key} references users (id) on delete cascade,
  scopes text not null,
  decision ${key} not null,
  expires_at ${key} not null
);
create index if not exists device_codes_by_client on device_codes (client_id);
create index if not exists device_codes_by_user on device_codes (user_id);
create index if not exists device_codes_by_expiry on device_codes (expires_at);

create table if not exists sessions (
  hash ${key} primary key,
  id ${key} not null unique,
  user_id ${key} not null references users (id) on delete cascade,
  created_at ${key} not null,
  seen_at ${key} not null,
  expires_at ${key} not null,
  browser text not null
);
create index if not exists sessions_by_user on sessions (user_id);
create index if not exists sessions_by_expiry on sessions (expires_at);

create table if not exists connections (
  user_id ${key} not null references users (id) on delete cascade,
  client_id ${key} not null references clients (id) on delete cascade,
  scopes text not null,
  created_at ${key} not null,
  primary key (user_id, client_id)
);
create index if not exists connections_by_client on connections (client_id);
`
