import type { Dialect } from '../../sql/tag.ts'

/**
 * Media servers that report publishers over HTTP. A secret is stored as its hash; after a rotation the previous one stays
 * valid for a while. `user_id` is the channel of a media server that has only one.
 *
 * `dismissed_at` of a publish session is set when its publisher has to be disconnected by its media server, and cleared
 * when that has happened.
 */
export const mediaServers = ({ key }: Dialect): string => `
create table if not exists media_servers (
  name ${key} primary key,
  adapter ${key} not null,
  secret_hash ${key} not null,
  previous_hash ${key},
  previous_until ${key},
  api_url text,
  user_id ${key} references users (id) on delete cascade,
  created_at ${key} not null
);
create index if not exists media_servers_of_user on media_servers (user_id) where user_id is not null;

alter table publish_sessions add column if not exists dismissed_at ${key};
create index if not exists publish_sessions_dismissed on publish_sessions (dismissed_at) where dismissed_at is not null;
`
