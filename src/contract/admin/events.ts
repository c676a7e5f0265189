import {
  deleteEventSubscription,
  listDeliveries,
  listEventSubscriptions,
  listEvents,
  replayEvents,
  resendDelivery,
} from '../control/events.ts'
import { action, type Resource, removeForm } from './resource.ts'

const list = action('list', listEvents, ['--type stream.online'], {
  columns: ['id', 'type', 'subject', 'occurred_at'],
})
const replay = action('replay', replayEvents, ['2026-03-01T12:00:00Z'], {
  arguments: ['since'],
  form: { path: 'replay', title: 'Replay events', done: 'The events are sent again.' },
})
const deliveryList = action('list', listDeliveries, ['--status failed'], {
  columns: ['id', 'kind', 'type', 'status', 'attempts', 'created_at', 'answer_status', 'answer'],
})
const resend = action('resend', resendDelivery, ['0b1f0a52-8a4e-4d5c-9b8f-9a101f0e8f3b'], {
  form: { path: 'resend', title: 'Resend', done: 'The message is sent again.', inRow: true },
})
const subscriptionList = action('list', listEventSubscriptions, ['--status enabled'], {
  columns: ['id', 'client_id', 'type', 'status', 'cost', 'created_at'],
})
const remove = action('delete', deleteEventSubscription, ['f1c2a387-161a-49f9-a165-0f21d7a4e1c4 --yes'], {
  confirm: 'final',
  form: removeForm('The subscription was deleted.', { inRow: true }),
})

export const events: Resource = {
  nouns: [
    { words: 'event', meaning: 'events that subscriptions matched', actions: [list, replay] },
    { words: 'event delivery', meaning: 'messages to subscribers', actions: [deliveryList, resend] },
    {
      words: 'event subscription',
      meaning: 'event subscriptions of all applications',
      actions: [subscriptionList, remove],
    },
  ],
  tables: [
    {
      path: 'event-subscriptions',
      title: 'Event subscriptions',
      one: 'event subscription',
      group: 'Applications',
      list: listEventSubscriptions,
      key: 'id',
      name: 'type',
      columns: ['type', 'status', 'client_id', 'condition', 'transport', 'cost', 'created_at'],
      empty: 'No application has subscribed to events.',
      actions: [remove],
    },
    {
      path: 'deliveries',
      title: 'Deliveries',
      one: 'delivery',
      group: 'Applications',
      list: listDeliveries,
      key: 'id',
      name: 'type',
      columns: [
        'type',
        'status',
        'kind',
        'attempts',
        'answer_status',
        'milliseconds',
        'created_at',
        'due_at',
      ],
      glance: 'status',
      empty: 'Nothing has been sent to subscribers.',
      create: replay,
      actions: [resend],
    },
  ],
}
