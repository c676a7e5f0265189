import type { Dialect } from '../../sql/tag.ts'

/**
 * State shared by the processes of one store: remaining points of rate limits and limits on guessing, and leases for work
 * that only one process should do. Times are milliseconds of the store's clock, because clocks of machines may differ.
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
