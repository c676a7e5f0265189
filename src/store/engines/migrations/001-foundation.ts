import type { Dialect } from '../../sql/tag.ts'

/**
 * The first schema. Times are ISO text; scopes, tags and redirect URIs are JSON text; booleans are 1 and 0: the same on
 * both engines. `key` columns are ordered byte by byte.
 */
export const foundation = ({ key }: Dialect): string => `
create table if not exists users (
  id ${key} primary key,
  login ${key} not null unique,
  display_name text not null,
  password_hash text,
  created_at ${key} not null
);
create index if not exists users_by_number on users (length(id), id);

create table if not exists organizations (
  id ${key} primary key,
  name text not null
);

create table if not exists members (
  organization_id ${key} not null references organizations (id) on delete cascade,
  user_id ${key} not null references users (id) on delete cascade,
  primary key (organization_id, user_id)
);
create index if not exists members_by_user on members (user_id);

create table if not exists games (
  id ${key} primary key,
  name text not null,
  organization_id ${key} references organizations (id)
);
create index if not exists games_by_number on games (length(id), id);
create index if not exists games_by_organization on games (organization_id);

create table if not exists benefits (
  id ${key} primary key,
  name text not null,
  organization_id ${key} not null references organizations (id),
  game_id ${key} references games (id)
);
create index if not exists benefits_by_organization on benefits (organization_id);
create index if not exists benefits_by_game on benefits (game_id);

create table if not exists clients (
  id ${key} primary key,
  name text not null,
  organization_id ${key} references organizations (id),
  owner_user_id ${key} references users (id) on delete set null,
  kind ${key} not null,
  redirect_uris text not null,
  secret_hash ${key}
);
create index if not exists clients_by_organization on clients (organization_id);
create index if not exists clients_by_owner on clients (owner_user_id);

create table if not exists tokens (
  hash ${key} primary key,
  kind ${key} not null,
  client_id ${key} not null references clients (id) on delete cascade,
  user_id ${key} references users (id) on delete cascade,
  scopes text not null,
  family ${key} not null,
  expires_at ${key} not null,
  used_at ${key}
);
create index if not exists tokens_by_family on tokens (family);
create index if not exists tokens_by_client on tokens (client_id);
create index if not exists tokens_by_user on tokens (user_id);
create index if not exists tokens_by_expiry on tokens (expires_at);

create table if not exists channels (
  user_id ${key} primary key references users (id) on delete cascade,
  title text not null,
  game_id ${key} references games (id),
  language ${key} not null,
  tags text not null,
  is_mature integer not null,
  vod_enabled integer not null
);
create index if not exists channels_by_game on channels (game_id);

create table if not exists stream_keys (
  user_id ${key} not null references users (id) on delete cascade,
  version integer not null,
  key_id ${key} not null,
  sealed text not null,
  lookup_hash ${key} not null unique,
  valid_until ${key},
  primary key (user_id, version)
);
create index if not exists stream_keys_by_end on stream_keys (valid_until);

create table if not exists editors (
  user_id ${key} not null references users (id) on delete cascade,
  editor_id ${key} not null references users (id) on delete cascade,
  primary key (user_id, editor_id)
);
create index if not exists editors_by_editor on editors (editor_id);

create table if not exists follows (
  user_id ${key} not null references users (id) on delete cascade,
  broadcaster_id ${key} not null references users (id) on delete cascade,
  primary key (user_id, broadcaster_id)
);
create index if not exists follows_by_broadcaster on follows (broadcaster_id);

create table if not exists videos (
  id ${key} primary key,
  user_id ${key} not null references users (id) on delete cascade,
  created_at ${key} not null,
  ended_at ${key}
);
create index if not exists videos_by_user on videos (user_id, ended_at);

create table if not exists streams (
  user_id ${key} primary key references users (id) on delete cascade,
  id ${key} not null unique,
  video_id ${key} references videos (id) on delete set null,
  started_at ${key} not null,
  viewer_count integer not null
);
create index if not exists streams_by_video on streams (video_id);

create table if not exists markers (
  id ${key} primary key,
  video_id ${key} not null references videos (id) on delete cascade,
  position_seconds integer not null,
  description text not null,
  created_at ${key} not null
);
create index if not exists markers_by_video on markers (video_id, position_seconds, id);

create table if not exists idempotency_keys (
  client_id ${key} not null,
  user_id ${key} not null,
  name ${key} not null,
  fingerprint ${key} not null,
  answer text not null,
  created_at ${key} not null,
  primary key (client_id, user_id, name)
);
create index if not exists idempotency_keys_by_age on idempotency_keys (created_at);

create table if not exists entitlements (
  id ${key} primary key,
  organization_id ${key} not null references organizations (id),
  benefit_id ${key} not null references benefits (id),
  user_id ${key} not null,
  game_id ${key} not null references games (id),
  timestamp ${key} not null,
  fulfillment_status ${key} not null,
  last_updated ${key} not null
);
create index if not exists entitlements_in_order on entitlements (organization_id, timestamp, id);
create index if not exists entitlements_by_user on entitlements (organization_id, user_id, timestamp, id);
create index if not exists entitlements_by_game on entitlements (game_id, organization_id, timestamp, id);
create index if not exists entitlements_by_status
  on entitlements (organization_id, fulfillment_status, timestamp, id);
create index if not exists entitlements_by_game_and_status
  on entitlements (game_id, organization_id, fulfillment_status, timestamp, id);
create index if not exists entitlements_of_all on entitlements (timestamp, id);
create index if not exists entitlements_by_benefit on entitlements (benefit_id);

create table if not exists feed_head (
  id integer primary key,
  seq bigint not null
);
insert into feed_head (id, seq) values (1, 0) on conflict (id) do nothing;

create table if not exists feed (
  seq bigint primary key,
  at ${key} not null,
  entry text not null
);
create index if not exists feed_by_age on feed (at);

create table if not exists facts (
  name ${key} primary key,
  value text not null
);
`
