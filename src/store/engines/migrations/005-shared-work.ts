import type { Dialect } from '../../sql/tag.ts'

/**
 * What processes on one store share beside its contents: what is left of limits on callers and on guessing, and whose turn it is to do
 * what only one of them should. Times are milliseconds of the store's own clock; those of the machines may differ.
 */
export const sharedWork = ({ key }: Dialect): string => `
create table if not exists rate_buckets (
  name ${key} primary key,
  points double precision not null,
  at bigint not null,
  full_at bigint not null
);
create index if not exists rate_buckets_by_end on rate_buckets (full_at);

create table if not exists turns (
  name ${key} primary key,
  holder ${key} not null,
  until bigint not null
);
`
