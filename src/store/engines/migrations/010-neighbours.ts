import type { Dialect } from '../../sql/tag.ts'

/**
 * The facts of users, games, channels, follows, editors and videos that the operations around streams return.
 *
 * Every new column has a default or may be null, so that nodes of the previous version can still write during a rolling
 * upgrade. Folded names are computed by the program, because neither engine folds all of Unicode: null means not computed
 * yet. Follows are counted by triggers, because a follow is also deleted with a user: the counts are exact whatever
 * statement, and whatever version of the program, changes them.
 *
 * On PostgreSQL the statements between two indexes are one transaction. Those that change tables come first and are quick;
 * those that rewrite rows hold no lock on their table. Follows cannot be added or removed while they are counted.
 */
export const neighbours = (dialect: Dialect): string => `
alter table users add column if not exists description text not null default '';
alter table users add column if not exists broadcaster_type ${dialect.key} not null default '';
alter table users add column if not exists email text;
alter table users add column if not exists display_name_folded ${dialect.key};
alter table games add column if not exists igdb_id ${dialect.key} not null default '';
alter table games add column if not exists name_folded ${dialect.key};
alter table channels add column if not exists delay integer not null default 0;
alter table channels add column if not exists content_labels text not null default '[]';
alter table channels add column if not exists is_branded_content integer not null default 0;
alter table editors add column if not exists created_at ${dialect.key};
alter table follows add column if not exists followed_at ${dialect.key};
alter table videos add column if not exists stream_id ${dialect.key};
alter table videos add column if not exists title text not null default '';
alter table videos add column if not exists language ${dialect.key} not null default 'en';
alter table videos add column if not exists game_id ${dialect.key} references games (id) on delete set null;
alter table videos add column if not exists description text not null default '';
alter table videos add column if not exists view_count integer not null default 0;
${dialect.name === 'sqlite' ? '' : POSTGRES_COLUMNS}
create index if not exists users_by_display_name on users (display_name_folded, login)
  where ${OTHER_NAME};
create index if not exists users_by_initial on users (substr(display_name_folded, 1, 1), login, display_name_folded)
  where ${OTHER_NAME};
create index if not exists users_not_folded on users (id) where display_name_folded is null;
create index if not exists games_by_folded_name on games (name_folded, length(id), id, name, igdb_id);
create index if not exists games_in_name_order on games (name, length(id), id, name_folded, igdb_id);
drop index if exists games_with_name;
create index if not exists games_by_igdb_id on games (igdb_id, length(id), id) where igdb_id <> '';
create index if not exists games_not_folded on games (id) where name_folded is null;
create index if not exists videos_of_user_by_time on videos (user_id, created_at, length(id), id);
create index if not exists videos_of_user_by_views on videos (user_id, view_count, created_at, length(id), id);
create index if not exists videos_of_game_by_time on videos (game_id, created_at, length(id), id);
create index if not exists videos_of_game_by_views on videos (game_id, view_count, created_at, length(id), id);

update editors set created_at = (
  select substr(max(u.created_at), 1, 19) || 'Z' from users u where u.id in (editors.user_id, editors.editor_id)
) where created_at is null;
update videos set
  stream_id = (select s.id from streams s where s.video_id = videos.id),
  title = coalesce((select c.title from channels c where c.user_id = videos.user_id), ''),
  language = coalesce((select c.language from channels c where c.user_id = videos.user_id), 'en'),
  game_id = (select c.game_id from channels c where c.user_id = videos.user_id);

create index if not exists follows_not_dated on follows (user_id, broadcaster_id) where followed_at is null;
update follows set followed_at = (
  select substr(max(u.created_at), 1, 19) || 'Z' from users u where u.id in (follows.user_id, follows.broadcaster_id)
) where ${
  dialect.name === 'sqlite'
    ? 'followed_at is null'
    : `(user_id, broadcaster_id) in (
  select user_id, broadcaster_id from follows where followed_at is null limit 5000)`
};
drop index if exists follows_not_dated;

create index if not exists follows_of_user
  on follows (user_id, followed_at, length(broadcaster_id), broadcaster_id);
create index if not exists follows_of_broadcaster
  on follows (broadcaster_id, followed_at, length(user_id), user_id);
drop index if exists follows_by_broadcaster;

create table if not exists follow_counts (
  user_id ${dialect.key} primary key references users (id) on delete cascade,
  following bigint not null,
  followers bigint not null
);
${dialect.name === 'sqlite' ? SQLITE_TRIGGERS : POSTGRES_TRIGGERS}
insert into follow_counts (user_id, following, followers)
  select id, sum(following), sum(followers) from (
    select user_id as id, 1 as following, 0 as followers from follows
    union all select broadcaster_id, 0, 1 from follows
  ) as sides where true group by id
  on conflict (user_id) do update set following = excluded.following, followers = excluded.followers;
`

/** A display name that differs from the login by more than spaces: searches find all others by their login. */
const OTHER_NAME = `replace(display_name_folded, ' ', '_') <> login and replace(display_name_folded, ' ', '') <> login`

const SQLITE_TRIGGERS = `
create trigger if not exists follow_added after insert on follows begin
  insert into follow_counts (user_id, following, followers) values (new.user_id, 1, 0)
    on conflict (user_id) do update set following = following + 1;
  insert into follow_counts (user_id, following, followers) values (new.broadcaster_id, 0, 1)
    on conflict (user_id) do update set followers = followers + 1;
  end;
create trigger if not exists follow_removed after delete on follows begin
  update follow_counts set following = following - 1 where user_id = old.user_id;
  update follow_counts set followers = followers - 1 where user_id = old.broadcaster_id;
  end;
`

/** Games are listed by name, so names compare by byte; and defaults for rows that nodes of the previous version add. */
const POSTGRES_COLUMNS = `
alter table games alter column name type text collate "C";
alter table editors alter column created_at
  set default to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
alter table follows alter column followed_at
  set default to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
`

/**
 * Once per statement, and in the order of the ids, so that statements that count the same users wait for each other instead
 * of deadlocking.
 */
const POSTGRES_TRIGGERS = `
create or replace function count_added_follows() returns trigger language plpgsql as $$
  begin
    insert into follow_counts (user_id, following, followers)
      select id, sum(following), sum(followers) from (
        select user_id as id, 1 as following, 0 as followers from changed
        union all select broadcaster_id, 0, 1 from changed
      ) as sides group by id order by id
      on conflict (user_id) do update set following = follow_counts.following + excluded.following,
        followers = follow_counts.followers + excluded.followers;
    return null;
  end
  $$;
create or replace function count_removed_follows() returns trigger language plpgsql as $$
  begin
    perform 1 from follow_counts
      where user_id in (select user_id from changed union all select broadcaster_id from changed)
      order by user_id for no key update;
    update follow_counts set following = follow_counts.following - lost.following,
        followers = follow_counts.followers - lost.followers
      from (
        select id, sum(following) as following, sum(followers) as followers from (
          select user_id as id, 1 as following, 0 as followers from changed
          union all select broadcaster_id, 0, 1 from changed
        ) as sides group by id
      ) as lost
      where follow_counts.user_id = lost.id;
    return null;
  end
  $$;
drop trigger if exists follow_added on follows;
create trigger follow_added after insert on follows
  referencing new table as changed for each statement execute function count_added_follows();
drop trigger if exists follow_removed on follows;
create trigger follow_removed after delete on follows
  referencing old table as changed for each statement execute function count_removed_follows();
`
