import type { Dialect } from '../../sql/tag.ts'

/**
 * Feed entries become a chain of nonces, and contain viewer counts. The feed only covers minutes, and its followers reload
 * everything when it starts over, so the tables are created again and not converted.
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
