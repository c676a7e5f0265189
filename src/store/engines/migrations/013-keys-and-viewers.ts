import type { Dialect } from '../../sql/tag.ts'

/**
 * Extra stream keys of a channel, by name. They have a table of their own because nodes of the previous version take every
 * row of `stream_keys` for a version of the main key.
 *
 * `playback_viewers` has the playback sessions that each node heard of recently, by channel: ids of eight characters, one
 * after another. A session may send its heartbeats to several nodes, so ids are needed to count it once.
 */
export const keysAndViewers = ({ key }: Dialect): string => `
create table if not exists extra_stream_keys (
  user_id ${key} not null references users (id) on delete cascade,
  name ${key} not null,
  key_id ${key} not null,
  sealed text not null,
  lookup_hash ${key} not null unique,
  created_at ${key} not null,
  valid_until ${key},
  primary key (user_id, name)
);
create index if not exists extra_stream_keys_by_end on extra_stream_keys (valid_until);

create table if not exists playback_viewers (
  user_id ${key} not null,
  node ${key} not null,
  sessions text not null,
  reported_at ${key} not null,
  primary key (user_id, node)
);
create index if not exists playback_viewers_by_time on playback_viewers (reported_at);
`
