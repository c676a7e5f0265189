import type { Dialect } from '../../sql/tag.ts'

/**
 * Publish sessions: a publisher of a channel on a media server. Session ids are those of the media server. A session stays
 * for a while after it ended, because its events may arrive late or twice. `recorded_at` is set when its recording is
 * complete.
 *
 * `stopped_at` of a stream is the time since which it has no publisher: it ends if none returns within the grace period.
 * Streams that an operator started have no session and do not stop.
 *
 * `recording_url` of a video is the node that has its recording; empty if there is only one node.
 */
export const publishSessions = ({ key }: Dialect): string => `
create table if not exists publish_sessions (
  adapter ${key} not null,
  server ${key} not null,
  session ${key} not null,
  user_id ${key} not null references users (id) on delete cascade,
  stream_id ${key} not null,
  watch_url text,
  started_at ${key} not null,
  alive_at ${key} not null,
  ended_at ${key},
  recorded_at ${key},
  primary key (adapter, server, session)
);
create index if not exists publish_sessions_of_user on publish_sessions (user_id) where ended_at is null;
create index if not exists publish_sessions_by_life on publish_sessions (alive_at) where ended_at is null;
create index if not exists publish_sessions_by_end on publish_sessions (ended_at);

alter table streams add column if not exists stopped_at ${key};
alter table videos add column if not exists recording_url text;
alter table channels add column if not exists second_publisher ${key} not null default 'refuse';
create index if not exists streams_stopped on streams (stopped_at) where stopped_at is not null;
`
