import type { Dialect } from '../../sql/tag.ts'

/**
 * Entitlements and markers move to tables with short rows, stored in the order in which pages read them, where the engine can
 * do that. The tables have other names, so that this text can be repeated.
 *
 * - An entitlement has its id as 16 bytes, its times as milliseconds, its status as 1 or 0, and numbers instead of the ids of
 *   its organization and benefit. A number is assigned at the first grant. Entitlements are never deleted, so neither is the
 *   organization or benefit, and a number keeps its meaning.
 *   A column is written as an expression where the planner must not prefer the order of the table to an index with more
 *   columns of the filter.
 * - `audit_entitlements` finds the rows of the audit log that changed several entitlements at once. Those that were granted
 *   together are adjacent. `number` of a chain is its short name there.
 */
export const compactRows = (dialect: Dialect): string => `
alter table audit_heads add column if not exists number integer;
update audit_heads set number = counted.number
  from (select chain, row_number() over (order by chain) as number from audit_heads) as counted
  where counted.chain = audit_heads.chain and audit_heads.number is null;
create unique index if not exists audit_heads_by_number on audit_heads (number);

${lockTables(dialect)}
create table if not exists entitlement_organizations (
  number integer primary key,
  organization_id ${dialect.key} not null unique references organizations (id)
);
create table if not exists entitlement_benefits (
  number integer primary key,
  benefit_id ${dialect.key} not null unique references benefits (id)
);
insert into entitlement_organizations (number, organization_id)
  select row_number() over (order by id), id from organizations o
  where exists (select 1 from entitlements e where e.organization_id = o.id);
insert into entitlement_benefits (number, benefit_id)
  select row_number() over (order by id), id from benefits b
  where exists (select 1 from entitlements e where e.benefit_id = b.id);

create table if not exists organization_entitlements (
  organization integer not null references entitlement_organizations (number),
  timestamp bigint not null,
  id ${dialect.uuid} not null,
  last_updated bigint not null,
  benefit integer not null references entitlement_benefits (number),
  fulfilled integer not null,
  user_id ${dialect.key} not null,
  game_id ${dialect.key} not null references games (id),
  primary key (organization, timestamp, id)
)${dialect.inKeyOrder};
insert into organization_entitlements (organization, timestamp, id, last_updated, benefit, fulfilled, user_id, game_id)
  select o.number, ${millisecondsOf(dialect, 'e.timestamp')}, ${uuidOf(dialect, 'e.id')},
    ${millisecondsOf(dialect, 'e.last_updated')}, b.number,
    case e.fulfillment_status when 'FULFILLED' then 1 else 0 end, e.user_id, e.game_id
  from entitlements e
    join entitlement_organizations o on o.organization_id = e.organization_id
    join entitlement_benefits b on b.benefit_id = e.benefit_id
  order by o.number, e.timestamp, e.id;
drop table if exists entitlements;
create unique index if not exists organization_entitlements_by_id on organization_entitlements (id);
create index if not exists organization_entitlements_by_status on organization_entitlements ((organization + 0), fulfilled, timestamp, id);
create index if not exists organization_entitlements_by_game on organization_entitlements (game_id, (organization + 0), fulfilled, timestamp, id);
create index if not exists organization_entitlements_by_benefit on organization_entitlements (benefit, game_id, fulfilled, timestamp, id);
create index if not exists organization_entitlements_by_user on organization_entitlements (user_id, timestamp, id);
create index if not exists organization_entitlements_by_user_and_game
  on organization_entitlements (user_id, game_id, timestamp, id);
create index if not exists organization_entitlements_of_all on organization_entitlements ((fulfilled + 0), timestamp, id);

create table if not exists audit_entitlements (
  timestamp bigint not null,
  id ${dialect.uuid} not null,
  at bigint not null,
  seq bigint not null,
  chain integer not null,
  primary key (timestamp, id, at, chain, seq)
)${dialect.inKeyOrder};

create table if not exists video_markers (
  video_id ${dialect.key} not null references videos (id) on delete cascade,
  position_seconds integer not null,
  id ${dialect.key} not null,
  description text not null,
  created_at ${dialect.key} not null,
  primary key (video_id, position_seconds, id)
)${dialect.inKeyOrder};
insert into video_markers (video_id, position_seconds, id, description, created_at)
  select video_id, position_seconds, id, description, created_at from markers
  order by video_id, position_seconds, id;
drop table if exists markers;
create unique index if not exists video_markers_by_id on video_markers (id);
`

/**
 * Nodes of the previous version may still write: what they add between the copy and the removal of a table would be lost. The
 * tables that it refers to are locked too, because its removal needs that, and would fail after the copy.
 */
function lockTables({ name }: Dialect): string {
  return name === 'sqlite'
    ? ''
    : 'lock table entitlements, markers, organizations, benefits, games, videos in access exclusive mode;'
}

function uuidOf({ name }: Dialect, text: string): string {
  return name === 'sqlite' ? `unhex(replace(${text}, '-', ''))` : `cast(${text} as uuid)`
}

/** PostgreSQL has no year 0: it is 1 BC. */
function millisecondsOf({ name }: Dialect, time: string): string {
  return name === 'sqlite'
    ? `cast(round(unixepoch(${time}, 'subsec') * 1000) as integer)`
    : `cast(extract(epoch from cast(case when ${time} like '0000%' then '0001' || substr(${time}, 5) || ' BC'
        else ${time} end as timestamptz)) * 1000 as bigint)`
}
