import type { Dialect } from '../../sql/tag.ts'

/**
 * The audit log: who changed what, in hash chains. The head of a chain is its last row; the chain begins after the last
 * row that was deleted because of its age. Also the tokens of named operators, and indexes of lists for operators only.
 */
export const audit = ({ key }: Dialect): string => `
create table if not exists audit_heads (
  chain ${key} primary key,
  seq bigint not null,
  hash ${key} not null,
  begins_after_seq bigint not null default 0,
  begins_after_hash ${key} not null default ''
);

create table if not exists audit (
  chain ${key} not null,
  seq bigint not null,
  at ${key} not null,
  actor ${key} not null,
  operation ${key} not null,
  subject ${key} not null,
  place ${key} not null,
  before text not null,
  after text not null,
  previous ${key} not null,
  hash ${key} not null,
  primary key (chain, seq)
);
create index if not exists audit_in_order on audit (at, chain, seq);
create index if not exists audit_by_subject on audit (place, subject, at);
create index if not exists audit_by_actor on audit (actor, at);
create index if not exists audit_by_operation on audit (operation, at);

create table if not exists operator_tokens (
  name ${key} primary key,
  hash ${key} not null unique,
  created_at ${key} not null
);

create index if not exists videos_in_order on videos (created_at, id);
create index if not exists videos_of_user_in_order on videos (user_id, created_at, id);
create index if not exists games_by_name on games (name);
create index if not exists organizations_by_name on organizations (name);
`
