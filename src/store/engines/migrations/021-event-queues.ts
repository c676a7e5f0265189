import type { Dialect } from '../../sql/tag.ts'

/**
 * Queues of webhook messages that cannot be sent yet, so that looking for messages never passes over those.
 *
 * A pending message is in one of two places. Without `waits_in` it is scheduled: it is looked at when it is due. With
 * `waits_in` it waits in the queue of that name, and only `next_at` of the queue decides when its next message is looked
 * at. There is a queue for each host, client with verifications, lane and subscription, as long as messages wait in it;
 * `failures` counts the attempts that have failed since the last success.
 *
 * `claimed_by` identifies the claim that a message was last taken by, so that a process which did not hear of the success of
 * its claim can undo it.
 *
 * A subscription with `deleted_at` has been deleted, and its many deliveries are deleted in steps.
 */
export const eventQueues = ({ key }: Dialect): string => `
create table if not exists event_queues (
  name ${key} primary key,
  next_at bigint not null,
  failures integer not null default 0
);
create index if not exists event_queues_due on event_queues (next_at);
alter table event_subscriptions add column if not exists deleted_at ${key};
alter table event_deliveries add column if not exists waits_in ${key};
alter table event_deliveries add column if not exists claimed_by ${key};
create index if not exists event_subscriptions_deleted on event_subscriptions (deleted_at) where deleted_at is not null;
create index if not exists event_deliveries_scheduled on event_deliveries (due_at, seq)
  where due_at is not null and waits_in is null and target < 'websocket:';
create index if not exists event_deliveries_waiting on event_deliveries (waits_in, seq)
  where due_at is not null and waits_in is not null;
create index if not exists event_deliveries_pending on event_deliveries (subscription_id, seq)
  where due_at is not null;
create index if not exists event_deliveries_on_socket on event_deliveries (target, due_at, seq)
  where due_at is not null and target >= 'websocket:';
drop index if exists event_deliveries_due;
`
