import type { Dialect } from '../../sql/tag.ts'

/**
 * Publishers whose users were deleted while they published: their media servers have to disconnect them, and must not bring
 * them back for another user who gets the login. `dismissed_at` is null once that is done.
 *
 * `published_as` of a session is the login at its start, by which a media server knows it also after a change of the login.
 *
 * Subscriptions of WebSockets are found by the user whom they belong to.
 */
export const departedPublishers = ({ key }: Dialect): string => `
create table if not exists departed_publishers (
  adapter ${key} not null,
  server ${key} not null,
  session ${key} not null,
  login ${key} not null,
  departed_at ${key} not null,
  dismissed_at ${key},
  primary key (adapter, server, session)
);
alter table publish_sessions add column if not exists published_as ${key};
create index if not exists event_subscriptions_of_owner on event_subscriptions (owner)
  where owner <> '' and ended_at is null;
`
