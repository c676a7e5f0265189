import type { Dialect } from '../../sql/tag.ts'

/**
 * Entries of the feed become a chain of nonces, and tell what viewer counts were. The feed only remembers minutes, and
 * those who follow it load everything anew when it begins again: so the tables are made afresh, not carried over.
 */
export const feedChain = ({ key }: Dialect): string => `
drop table if exists feed;
drop table if exists feed_head;

create table if not exists feed_head (
  id integer primary key,
  seq bigint not null,
  nonce ${key} not null default '',
  previous ${key} not null default ''
);
insert into feed_head (id, seq) values (1, 0) on conflict (id) do nothing;

create table if not exists feed (
  seq bigint primary key,
  at ${key} not null,
  nonce ${key} not null,
  previous ${key} not null,
  entry text not null
);
create index if not exists feed_by_age on feed (at);
`
