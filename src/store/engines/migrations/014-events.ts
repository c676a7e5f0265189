import type { Dialect } from '../../sql/tag.ts'

/**
 * Event subscriptions, the events that they match, and a row for each message: a notification, the verification of a
 * callback, or a revocation.
 *
 * `topic` is the type, version and subject of events, `target` the host or the WebSocket that they are sent to, `identity` a
 * hash of everything that makes two subscriptions the same. `owner` is the user of the token of a WebSocket, empty for an
 * app token. `authorized_by` is the user whose authorization a subscription depends on. A subscription with `ended_at`
 * sends nothing more.
 *
 * A delivery is pending while it has `due_at`, in milliseconds of the clock of the store. Claiming one moves `due_at` to
 * when it is due again if the process that claimed it dies. Deliveries with the same `lane` are sent in order. `message` is
 * the id that the receiver sees; several deliveries share it if they were sent in one request.
 *
 * A WebSocket has `moved` if its session was continued on another connection.
 */
export const events = ({ key, serial }: Dialect): string => `
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
  ended_at ${key}
);
create unique index if not exists event_subscriptions_live on event_subscriptions (identity) where ended_at is null;
create index if not exists event_subscriptions_by_topic on event_subscriptions (topic) where ended_at is null;
create index if not exists event_subscriptions_of_client on event_subscriptions (client_id, owner, created_at, id);
create index if not exists event_subscriptions_of_client_by_time on event_subscriptions (client_id, created_at, id);
create index if not exists event_subscriptions_by_time on event_subscriptions (created_at, id);
create index if not exists event_subscriptions_by_type on event_subscriptions (type, created_at, id);
create index if not exists event_subscriptions_by_status on event_subscriptions (status, created_at, id);
create index if not exists event_subscriptions_by_end on event_subscriptions (ended_at) where ended_at is not null;
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
  created_at ${key} not null,
  finished_at ${key},
  answer_status integer,
  answer text,
  milliseconds integer
);
create index if not exists event_deliveries_due on event_deliveries (target, due_at) where due_at is not null;
create index if not exists event_deliveries_in_lane on event_deliveries (lane, seq)
  where lane is not null and due_at is not null;
create index if not exists event_deliveries_of_message on event_deliveries (message);
create index if not exists event_deliveries_of_subscription on event_deliveries (subscription_id, seq);
create index if not exists event_deliveries_of_event on event_deliveries (event_seq, seq)
  where event_seq is not null;
create index if not exists event_deliveries_by_status on event_deliveries (status, seq);

create table if not exists event_sockets (
  id ${key} primary key,
  node ${key} not null,
  connected_at ${key} not null,
  keepalive_seconds integer not null,
  moved integer not null default 0
);
create index if not exists event_sockets_of_node on event_sockets (node);
`
