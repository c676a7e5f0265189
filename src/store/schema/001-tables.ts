/**
 * All tables, with their indexes and triggers. One text serves both engines: times are ISO text, or integers of milliseconds;
 * scopes, tags and redirect URIs are JSON text; booleans are 1 and 0. `key` columns are ordered byte by byte.
 *
 * Every list reads along an index, whatever its filter (`store/keyset.ts`): its columns are those of the filter, followed by
 * those of the order. A column is written as an expression where the planner must not choose the index for a list that has one
 * with more columns: it would skip row after row if it assumes that most of them match.
 *
 * Tables whose rows are mostly found by their key are stored in its order where the engine can do that (`inKeyOrder`): a key then
 * leads to its row in one search instead of two, and is stored once.
 */
import type { Dialect } from '../sql/tag.ts'

export const tables = (dialect: Dialect): string =>
  [people, games, channels, broadcasts, entitlements, oauth, campaigns, events, audit, shared]
    .map(text => text(dialect))
    .join('')

/**
 * Users, whom they follow, and organizations. `reset_hash` is the hash of a link with which the user can set a password. Normalized names are computed by the program, because neither engine normalizes all of
 * Unicode. Follows are counted by triggers, because a follow is also deleted with a user: the counts are exact whatever
 * statement changes them.
 */
const people = ({ key, name, inKeyOrder }: Dialect): string => `
create table if not exists users (
  id ${key} primary key,
  login ${key} not null unique,
  display_name text not null,
  display_name_normalized ${key} not null,
  description text not null default '',
  links text not null default '[]',
  broadcaster_type ${key} not null default '',
  email text,
  password_hash text,
  reset_hash ${key},
  reset_expires_at ${key},
  created_at ${key} not null,
  suspended_at ${key},
  suspension_reason text not null default ''
)${inKeyOrder};
create unique index if not exists users_with_reset on users (reset_hash) where reset_hash is not null;
create index if not exists users_suspended on users (id) where suspended_at is not null;
create index if not exists users_by_number on users (length(id), id);
create index if not exists users_by_login on users (login, suspended_at) where ${ACTIVE};
create index if not exists users_by_display_name on users (display_name_normalized, login, suspended_at)
  where ${ACTIVE} and ${OTHER_NAME};
create index if not exists users_by_initial
  on users (substr(display_name_normalized, 1, 1), login, display_name_normalized, suspended_at)
  where ${ACTIVE} and ${OTHER_NAME};

create table if not exists organizations (
  id ${key} primary key,
  name text not null
);
create index if not exists organizations_with_name on organizations (name, id);

create table if not exists members (
  organization_id ${key} not null references organizations (id) on delete cascade,
  user_id ${key} not null references users (id) on delete cascade,
  primary key (organization_id, user_id)
);
create index if not exists members_by_user on members (user_id);

create table if not exists follows (
  user_id ${key} not null references users (id) on delete cascade,
  broadcaster_id ${key} not null references users (id) on delete cascade,
  followed_at ${key} not null,
  primary key (user_id, broadcaster_id)
)${inKeyOrder};
create index if not exists follows_of_user
  on follows (user_id, followed_at, length(broadcaster_id), broadcaster_id);
create index if not exists follows_of_broadcaster
  on follows (broadcaster_id, followed_at, length(user_id), user_id);

create table if not exists follow_counts (
  user_id ${key} primary key references users (id) on delete cascade,
  following bigint not null,
  followers bigint not null
)${inKeyOrder};
${name === 'sqlite' ? SQLITE_TRIGGERS : POSTGRES_TRIGGERS}`

/**
 * Indexes for searches omit suspended users (D-270). They have the column all the same: without it, SQLite would read every
 * row to see that the column is null.
 */
const ACTIVE = 'suspended_at is null'

/** A display name that differs from the login by more than spaces: searches find all others by their login. */
const OTHER_NAME = `replace(display_name_normalized, ' ', '_') <> login and replace(display_name_normalized, ' ', '') <> login`

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

const games = ({ key, inKeyOrder }: Dialect): string => `
create table if not exists games (
  id ${key} primary key,
  name ${key} not null,
  name_normalized ${key} not null,
  organization_id ${key} references organizations (id),
  igdb_id ${key} not null default ''
)${inKeyOrder};
create index if not exists games_by_number on games (length(id), id);
create index if not exists games_by_normalized_name on games (name_normalized, length(id), id, name, igdb_id);
create index if not exists games_in_name_order on games (name, length(id), id, name_normalized, igdb_id);
create index if not exists games_by_igdb_id on games (igdb_id, length(id), id) where igdb_id <> '';
create index if not exists games_of_organization on games (organization_id, length(id), id);
create index if not exists games_of_organization_with_name on games (organization_id, name, length(id), id);

create table if not exists benefits (
  id ${key} primary key,
  name text not null,
  organization_id ${key} not null references organizations (id),
  game_id ${key} references games (id)
);
create index if not exists benefits_of_organization on benefits (organization_id, id);
create index if not exists benefits_of_organization_and_game on benefits (organization_id, game_id, id);
create index if not exists benefits_of_game on benefits (game_id, id);
`

/**
 * Channels, their editors and their keys. The main key of a channel has versions, of which earlier ones stay valid for a while;
 * extra keys have names. Every start and every command asks which master keys are in use: an index finds them.
 *
 * `playback_viewers` has the playback sessions that each node heard of recently, by channel: ids of eight characters, one
 * after another. A session may send its heartbeats to several nodes, so ids are needed to count it once.
 */
const channels = ({ key, inKeyOrder }: Dialect): string => `
create table if not exists channels (
  user_id ${key} primary key references users (id) on delete cascade,
  title text not null,
  game_id ${key} references games (id),
  language ${key} not null,
  tags text not null,
  is_mature integer not null,
  vod_enabled integer not null,
  delay integer not null default 0,
  content_labels text not null default '[]',
  is_branded_content integer not null default 0,
  second_publisher ${key} not null default 'refuse'
)${inKeyOrder};
create index if not exists channels_by_game on channels (game_id);

create table if not exists editors (
  user_id ${key} not null references users (id) on delete cascade,
  editor_id ${key} not null references users (id) on delete cascade,
  created_at ${key} not null,
  primary key (user_id, editor_id)
)${inKeyOrder};
create index if not exists editors_by_editor_and_channel on editors (editor_id, user_id);

create table if not exists stream_keys (
  user_id ${key} not null references users (id) on delete cascade,
  version integer not null,
  key_id ${key} not null,
  sealed text not null,
  lookup_hash ${key} not null unique,
  valid_until ${key},
  primary key (user_id, version)
)${inKeyOrder};
create index if not exists stream_keys_by_end on stream_keys (valid_until);
create index if not exists stream_keys_by_master_key on stream_keys (key_id);

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

/**
 * Live streams, videos and markers, and who publishes. `recording_url` of a video is the node that has its recording; empty if
 * there is only one node. `stopped_at` of a stream is the time since which it has no publisher: it ends if none returns within
 * the grace period. Streams that an operator started have no session and do not stop.
 *
 * The recording of a video by embedded media servers has a file in the folder of each node that received its stream (D-261).
 * `part` is their order, `folder` the id of the folder, `url` the node, empty if there is only one. `state` is `local`,
 * `uploading` or `stored` in the bucket (D-263). `playlist` lists the file, as far as it was written when its publisher left.
 * `published_at` is when a publisher last came. A row stays until its object is deleted, so it does not refer to its video.
 *
 * A publish session is a publisher of a channel on a media server, by the id that the media server gave it. It stays for a while
 * after it ended, because its events may arrive late or twice. `published_as` is the login at its start, by which a media server
 * knows it also after a change of the login. `recorded_at` is set when its recording is complete. `dismissed_at` is set when
 * its publisher has to be disconnected by its media server, and cleared when that has happened. `encoder` is what its encoder
 * sends, as JSON, written every few seconds by the node that receives it.
 *
 * `disconnected_publishers` are those whose users were deleted while they published: their media servers have to disconnect them,
 * and must not bring them back for another user who gets the login. `dismissed_at` is null once that is done.
 *
 * A media server reports publishers over HTTP. Its secret is stored as a hash; after a rotation the previous one stays valid for
 * a while. `user_id` is the channel of a media server that has only one, and `playback_url` is where viewers find its HLS
 * playlists, with `{login}` in place of the channel.
 */
const broadcasts = ({ key, inKeyOrder }: Dialect): string => `
create table if not exists videos (
  id ${key} primary key,
  user_id ${key} not null references users (id) on delete cascade,
  stream_id ${key},
  created_at ${key} not null,
  ended_at ${key},
  title text not null default '',
  description text not null default '',
  language ${key} not null default 'en',
  game_id ${key} references games (id) on delete set null,
  view_count integer not null default 0,
  recording_url text
);
create index if not exists videos_by_user on videos (user_id, ended_at);
create index if not exists videos_in_order on videos (created_at, id);
create index if not exists videos_of_user_in_order on videos (user_id, created_at, id);
create index if not exists videos_of_user_by_time on videos (user_id, created_at, length(id), id);
create index if not exists videos_of_user_by_views on videos (user_id, view_count, created_at, length(id), id);
create index if not exists videos_of_game_by_time on videos (game_id, created_at, length(id), id);
create index if not exists videos_of_game_by_views on videos (game_id, view_count, created_at, length(id), id);

create table if not exists video_markers (
  video_id ${key} not null references videos (id) on delete cascade,
  position_seconds integer not null,
  id ${key} not null,
  description text not null,
  created_at ${key} not null,
  primary key (video_id, position_seconds, id)
)${inKeyOrder};
create unique index if not exists video_markers_by_id on video_markers (id);

create table if not exists recording_files (
  video_id ${key} not null,
  part integer not null,
  folder ${key} not null,
  url text not null,
  state ${key} not null,
  playlist text,
  published_at ${key} not null,
  changed_at ${key} not null,
  primary key (video_id, part)
);

create table if not exists streams (
  user_id ${key} primary key references users (id) on delete cascade,
  id ${key} not null unique,
  video_id ${key} references videos (id) on delete set null,
  started_at ${key} not null,
  viewer_count integer not null,
  stopped_at ${key}
)${inKeyOrder};
create index if not exists streams_by_video on streams (video_id);
create index if not exists streams_stopped on streams (stopped_at) where stopped_at is not null;

create table if not exists publish_sessions (
  adapter ${key} not null,
  server ${key} not null,
  session ${key} not null,
  user_id ${key} not null references users (id) on delete cascade,
  published_as ${key} not null,
  stream_id ${key} not null,
  watch_url text,
  started_at ${key} not null,
  alive_at ${key} not null,
  ended_at ${key},
  recorded_at ${key},
  dismissed_at ${key},
  encoder text,
  primary key (adapter, server, session)
);
create index if not exists publish_sessions_of_user on publish_sessions (user_id) where ended_at is null;
create index if not exists publish_sessions_by_life on publish_sessions (alive_at) where ended_at is null;
create index if not exists publish_sessions_by_end on publish_sessions (ended_at);
create index if not exists publish_sessions_dismissed on publish_sessions (dismissed_at) where dismissed_at is not null;

create table if not exists disconnected_publishers (
  adapter ${key} not null,
  server ${key} not null,
  session ${key} not null,
  login ${key} not null,
  departed_at ${key} not null,
  dismissed_at ${key},
  primary key (adapter, server, session)
);

create table if not exists media_servers (
  name ${key} primary key,
  adapter ${key} not null,
  secret_hash ${key} not null,
  previous_hash ${key},
  previous_until ${key},
  api_url text,
  playback_url text,
  user_id ${key} references users (id) on delete cascade,
  created_at ${key} not null
);
create index if not exists media_servers_of_user on media_servers (user_id) where user_id is not null;
`

/**
 * Entitlements have short rows, stored in the order in which pages read them where the engine can do that: the id as 16 bytes,
 * times as milliseconds, the status as 1 or 0, and numbers instead of the ids of organization and benefit. A number is assigned
 * at the first grant. Entitlements are never deleted, so neither is the organization or benefit, and a number keeps its meaning.
 * `campaign` is the number of the campaign that an entitlement was earned in, if any.
 *
 * The entitlements of a user are far apart in that order, a page of the file for each. So the index by user and game, the list
 * that games ask for most, has every column that a list returns on SQLite, which then reads nothing else. PostgreSQL would write
 * a twelfth more log for it.
 */
const entitlements = ({ name, key, uuid, inKeyOrder }: Dialect): string => `
create table if not exists entitlement_organizations (
  number integer primary key,
  organization_id ${key} not null unique references organizations (id)
);

create table if not exists entitlement_benefits (
  number integer primary key,
  benefit_id ${key} not null unique references benefits (id)
);

create table if not exists organization_entitlements (
  organization integer not null references entitlement_organizations (number),
  timestamp bigint not null,
  id ${uuid} not null,
  last_updated bigint not null,
  benefit integer not null references entitlement_benefits (number),
  fulfilled integer not null,
  user_id ${key} not null,
  game_id ${key} not null references games (id),
  campaign integer,
  primary key (organization, timestamp, id)
)${inKeyOrder};
create unique index if not exists organization_entitlements_by_id on organization_entitlements (id);
create index if not exists organization_entitlements_by_status
  on organization_entitlements ((organization + 0), fulfilled, timestamp, id);
create index if not exists organization_entitlements_by_game
  on organization_entitlements (game_id, (organization + 0), fulfilled, timestamp, id);
create index if not exists organization_entitlements_by_benefit
  on organization_entitlements (benefit, game_id, fulfilled, timestamp, id);
create index if not exists organization_entitlements_of_user
  on organization_entitlements (user_id, (organization + 0), fulfilled, timestamp, id);
create index if not exists organization_entitlements_of_user_and_game
  on organization_entitlements
    (user_id, game_id, (organization + 0), fulfilled, timestamp, id${name === 'sqlite' ? ', last_updated, benefit' : ''});
create index if not exists organization_entitlements_of_all
  on organization_entitlements ((fulfilled + 0), timestamp, id);
`

/**
 * Applications, their tokens, pending codes, browser sessions, and the applications that a user has connected. Tokens, codes and
 * sessions are stored as hashes. A client without `device_flow` has the default of its kind: public clients may use it,
 * confidential ones may not.
 *
 * `authenticated_at` of a code is null without the scope openid; the nonce goes into its ID token. Device codes are counted by the
 * network of the caller. The indexes give the tokens, codes and sessions to delete, oldest first.
 *
 * Signing keys are numbered without gaps: if several nodes create the next one, the first wins. The public key is stored as it
 * is published, the private key encrypted with a master key.
 */
const oauth = ({ key }: Dialect): string => `
create table if not exists clients (
  id ${key} primary key,
  name text not null,
  organization_id ${key} references organizations (id),
  owner_user_id ${key} references users (id) on delete set null,
  kind ${key} not null,
  redirect_uris text not null,
  secret_hash ${key},
  implicit_grant integer not null default 0,
  device_flow integer,
  counts_watching integer not null default 0
);
create index if not exists clients_of_organization on clients (organization_id, id);
create index if not exists clients_of_organization_and_owner on clients (organization_id, owner_user_id, id);
create index if not exists clients_of_owner on clients (owner_user_id, id);

create table if not exists tokens (
  hash ${key} primary key,
  kind ${key} not null,
  client_id ${key} not null references clients (id) on delete cascade,
  user_id ${key} references users (id) on delete cascade,
  scopes text not null,
  family ${key} not null,
  expires_at ${key} not null,
  used_at ${key}
);
create index if not exists tokens_of_family on tokens (family, kind, expires_at, hash);
create index if not exists tokens_of_client on tokens (client_id, kind, expires_at, hash);
create index if not exists tokens_of_user on tokens (user_id, client_id, family);
create index if not exists tokens_by_expiry on tokens (expires_at);

create table if not exists authorization_codes (
  hash ${key} primary key,
  client_id ${key} not null references clients (id) on delete cascade,
  user_id ${key} not null references users (id) on delete cascade,
  redirect_uri text not null,
  challenge ${key},
  scopes text not null,
  family ${key} not null,
  nonce text,
  authenticated_at ${key},
  expires_at ${key} not null,
  used_at ${key}
);
create index if not exists authorization_codes_by_client on authorization_codes (client_id);
create index if not exists authorization_codes_of_user
  on authorization_codes (user_id, client_id, expires_at, hash);
create index if not exists authorization_codes_by_expiry on authorization_codes (expires_at);

create table if not exists device_codes (
  hash ${key} primary key,
  user_code ${key} not null unique,
  client_id ${key} not null references clients (id) on delete cascade,
  user_id ${key} references users (id) on delete cascade,
  scopes text not null,
  decision ${key} not null,
  network ${key} not null,
  expires_at ${key} not null
);
create index if not exists device_codes_of_client on device_codes (client_id, expires_at, hash);
create index if not exists device_codes_of_network on device_codes (network, expires_at, hash);
create index if not exists device_codes_by_user on device_codes (user_id);
create index if not exists device_codes_by_expiry on device_codes (expires_at);

create table if not exists sessions (
  hash ${key} primary key,
  id ${key} not null unique,
  user_id ${key} not null references users (id) on delete cascade,
  created_at ${key} not null,
  seen_at ${key} not null,
  expires_at ${key} not null,
  browser text not null
);
create index if not exists sessions_by_user on sessions (user_id);
create index if not exists sessions_by_expiry on sessions (expires_at);

create table if not exists connections (
  user_id ${key} not null references users (id) on delete cascade,
  client_id ${key} not null references clients (id) on delete cascade,
  scopes text not null,
  created_at ${key} not null,
  primary key (user_id, client_id)
);
create index if not exists connections_by_client on connections (client_id);

create table if not exists signing_keys (
  number integer primary key,
  kid ${key} not null unique,
  public_jwk text not null,
  key_id ${key} not null,
  sealed text not null,
  created_at ${key} not null
);
`

/**
 * Drops campaigns: what viewers can earn, how far they are, and what they have claimed. `number` is the short name of a campaign
 * in tables with many rows. `pauses` are the times between a stop and the publication that continued the campaign, as JSON;
 * `claim_ends_at` follows from the other times.
 *
 * A viewer who watches anything that counts has a row in `watched_minutes`: the newest slot, and a bit for each of the 32 slots
 * up to it (`domain/watched-minutes.ts`). A command that changes the minutes or claims of a viewer locks this row first. Rows of
 * viewers are short, and nothing that changes is in an index.
 */
const campaigns = ({ key, uuid, inKeyOrder }: Dialect): string => `
create table if not exists campaigns (
  id ${key} primary key,
  number integer not null unique,
  name text not null,
  organization_id ${key} not null references organizations (id),
  game_id ${key} not null references games (id),
  state ${key} not null,
  starts_at ${key} not null,
  ends_at ${key} not null,
  stopped_at ${key},
  pauses text not null default '[]',
  claim_seconds integer not null,
  claim_ends_at ${key} not null,
  channels ${key} not null,
  account_link ${key} not null,
  link_client_id ${key} references clients (id),
  link_url text,
  auto_claim integer not null
);
create index if not exists campaigns_of_organization on campaigns (organization_id, id);
create index if not exists campaigns_of_game on campaigns (game_id, id);
create index if not exists campaigns_of_client on campaigns (link_client_id) where link_client_id is not null;
create index if not exists campaigns_by_end on campaigns (claim_ends_at);

create table if not exists campaign_drops (
  id ${key} primary key,
  campaign_id ${key} not null references campaigns (id) on delete cascade,
  place integer not null,
  name text not null,
  required_minutes integer not null
);
create index if not exists campaign_drops_of_campaign on campaign_drops (campaign_id, place);

create table if not exists campaign_drop_benefits (
  drop_id ${key} not null references campaign_drops (id) on delete cascade,
  benefit_id ${key} not null references benefits (id),
  place integer not null,
  primary key (drop_id, benefit_id)
);
create index if not exists campaign_drop_benefits_by_benefit on campaign_drop_benefits (benefit_id);

create table if not exists campaign_channels (
  campaign_id ${key} not null references campaigns (id) on delete cascade,
  user_id ${key} not null references users (id) on delete cascade,
  primary key (campaign_id, user_id)
)${inKeyOrder};
create index if not exists campaign_channels_by_user on campaign_channels (user_id);

create table if not exists watched_minutes (
  user_id ${key} primary key references users (id) on delete cascade,
  slot integer not null,
  recent integer not null
)${inKeyOrder};

create table if not exists drop_progress (
  campaign integer not null references campaigns (number),
  user_id ${key} not null references users (id) on delete cascade,
  minutes integer not null,
  primary key (campaign, user_id)
)${inKeyOrder};
create index if not exists drop_progress_of_user on drop_progress (user_id, campaign);

create table if not exists drop_claims (
  user_id ${key} not null references users (id) on delete cascade,
  drop_id ${key} not null references campaign_drops (id),
  benefit_id ${key} not null,
  entitlement_id ${uuid} not null,
  claimed_at ${key} not null,
  source ${key} not null,
  primary key (user_id, drop_id, benefit_id)
)${inKeyOrder};
create index if not exists drop_claims_of_drop on drop_claims (drop_id, user_id, benefit_id);
`

/**
 * Event subscriptions, the events that they match, and a row for each message: a notification, the verification of a callback,
 * or a revocation.
 *
 * `topic` is the type, version and subject of events, `target` the host or the WebSocket that they are sent to, `identity` a
 * hash of everything that makes two subscriptions the same. `owner` is the user of the token of a WebSocket, empty for an app
 * token. `authorized_by` is the user whose authorization a subscription depends on. A subscription with `ended_at` sends nothing
 * more; one with `deleted_at` has been deleted, and its many deliveries are deleted in steps.
 *
 * A delivery is pending while it has `due_at`, in milliseconds of the clock of the store. Claiming one moves `due_at` to when it
 * is due again if the process that claimed it dies; `claimed_by` identifies the claim, so that a process which did not hear of
 * the success of its claim can undo it. Deliveries with the same `lane` are sent in order. `message` is the id that the receiver
 * sees; several deliveries share it if they were sent in one request.
 *
 * A pending message is in one of two places. Without `waits_in` it is scheduled: it is looked at when it is due. With `waits_in`
 * it waits in the queue of that name, and only `next_at` of the queue decides when its next message is looked at, so that looking
 * for messages never passes over those that cannot be sent yet. There is a queue for each host, client with verifications, lane
 * and subscription, as long as messages wait in it; `failures` counts the attempts that have failed since the last success.
 *
 * A WebSocket has `moved` if its session was continued on another connection.
 */
const events = ({ key, serial }: Dialect): string => `
create table if not exists event_subscriptions (
  id ${key} primary key,
  client_id ${key} not null references clients (id) on delete cascade,
  owner ${key} not null,
  type ${key} not null,
  version ${key} not null,
  condition text not null,
  topic ${key} not null,
  authorized_by ${key},
  status ${key} not null,
  cost integer not null,
  method ${key} not null,
  callback text,
  session_id ${key},
  connected_at ${key},
  target ${key} not null,
  lane ${key},
  identity ${key} not null,
  key_id ${key},
  sealed text,
  created_at ${key} not null,
  ended_at ${key},
  deleted_at ${key}
);
create unique index if not exists event_subscriptions_live on event_subscriptions (identity) where ended_at is null;
create index if not exists event_subscriptions_by_topic on event_subscriptions (topic) where ended_at is null;
create index if not exists event_subscriptions_of_client on event_subscriptions (client_id, owner, created_at, id);
create index if not exists event_subscriptions_of_client_by_time on event_subscriptions (client_id, created_at, id);
create index if not exists event_subscriptions_of_owner on event_subscriptions (owner)
  where owner <> '' and ended_at is null;
create index if not exists event_subscriptions_by_time on event_subscriptions (created_at, id);
create index if not exists event_subscriptions_by_type on event_subscriptions (type, created_at, id);
create index if not exists event_subscriptions_by_status on event_subscriptions (status, created_at, id);
create index if not exists event_subscriptions_by_end on event_subscriptions (ended_at) where ended_at is not null;
create index if not exists event_subscriptions_deleted on event_subscriptions (deleted_at) where deleted_at is not null;
create index if not exists event_subscriptions_by_user on event_subscriptions (authorized_by)
  where authorized_by is not null;
create index if not exists event_subscriptions_of_session on event_subscriptions (session_id)
  where session_id is not null;
create index if not exists event_subscriptions_by_key on event_subscriptions (key_id, id) where key_id is not null;

create table if not exists events (
  seq ${serial},
  id ${key} not null unique,
  type ${key} not null,
  version ${key} not null,
  subject ${key} not null,
  occurred_at ${key} not null,
  body text not null
);
create index if not exists events_by_type on events (type, seq);
create index if not exists events_by_subject on events (subject, seq);
create index if not exists events_by_time on events (occurred_at);

create table if not exists event_deliveries (
  seq ${serial},
  id ${key} not null unique,
  message ${key} not null,
  kind ${key} not null,
  subscription_id ${key} not null references event_subscriptions (id) on delete cascade,
  event_seq bigint references events (seq) on delete cascade,
  target ${key} not null,
  lane ${key},
  status ${key} not null,
  attempts integer not null,
  due_at bigint,
  waits_in ${key},
  claimed_by ${key},
  created_at ${key} not null,
  finished_at ${key},
  answer_status integer,
  answer text,
  milliseconds integer
);
create index if not exists event_deliveries_scheduled on event_deliveries (due_at, seq)
  where due_at is not null and waits_in is null and target < 'websocket:';
create index if not exists event_deliveries_waiting on event_deliveries (waits_in, seq)
  where due_at is not null and waits_in is not null;
create index if not exists event_deliveries_on_socket on event_deliveries (target, due_at, seq)
  where due_at is not null and target >= 'websocket:';
create index if not exists event_deliveries_pending on event_deliveries (subscription_id, seq)
  where due_at is not null;
create index if not exists event_deliveries_in_lane on event_deliveries (lane, seq)
  where lane is not null and due_at is not null;
create index if not exists event_deliveries_of_message on event_deliveries (message);
create index if not exists event_deliveries_of_subscription on event_deliveries (subscription_id, seq);
create index if not exists event_deliveries_of_event on event_deliveries (event_seq, seq)
  where event_seq is not null;
create index if not exists event_deliveries_by_status on event_deliveries (status, seq);

create table if not exists event_queues (
  name ${key} primary key,
  next_at bigint not null,
  failures integer not null default 0
);
create index if not exists event_queues_due on event_queues (next_at);

create table if not exists event_sockets (
  id ${key} primary key,
  node ${key} not null,
  connected_at ${key} not null,
  keepalive_seconds integer not null,
  moved integer not null default 0
);
create index if not exists event_sockets_of_node on event_sockets (node);
`

/**
 * The audit log: who changed what, in hash chains. The head of a chain is its last row; the chain begins after the last row that
 * was deleted because of its age. There is no index by time alone, because lists merge the ranges of all operations.
 *
 * `audit_entitlements` finds the rows of the log that changed several entitlements at once. Those that were granted together are
 * adjacent. `number` of a chain is its short name there.
 */
const audit = ({ key, uuid, inKeyOrder }: Dialect): string => `
create table if not exists audit_heads (
  chain ${key} primary key,
  number integer not null unique,
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
create index if not exists audit_by_subject on audit (place, subject, at);
create index if not exists audit_by_operation on audit (operation, at);
create index if not exists audit_by_actor_and_operation on audit (actor, (operation || ''), at);

create table if not exists audit_entitlements (
  timestamp bigint not null,
  id ${uuid} not null,
  at bigint not null,
  seq bigint not null,
  chain integer not null,
  primary key (timestamp, id, at, chain, seq)
)${inKeyOrder};

create table if not exists operator_tokens (
  name ${key} primary key,
  hash ${key} not null unique,
  created_at ${key} not null
);
`

/**
 * What the processes of one store share: the feed, which is a chain of nonces; answers to repeated requests; remaining points of
 * rate limits and limits on guessing; leases for work that only one process should do; and single facts. Times of buckets and
 * leases are milliseconds of the store's clock, because clocks of machines may differ.
 */
const shared = ({ key }: Dialect): string => `
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

create table if not exists idempotency_keys (
  client_id ${key} not null,
  user_id ${key} not null,
  name ${key} not null,
  fingerprint ${key} not null,
  answer text not null,
  created_at ${key} not null,
  primary key (client_id, user_id, name)
);
create index if not exists idempotency_keys_by_age on idempotency_keys (created_at);

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

create table if not exists facts (
  name ${key} primary key,
  value text not null
);
`
