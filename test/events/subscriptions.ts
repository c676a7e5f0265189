/** What tests of webhooks on a store without a server share: its client and user, and subscriptions. */
import type { NewEventSubscription } from '../../src/store/commands/event-subscriptions.ts'
import type { Store } from '../../src/store/store.ts'
import { anyStreamKey } from '../support/store/stores.ts'

/** Adds the broadcaster whose events are subscribed to. */
export async function addBroadcaster(store: Store): Promise<void> {
  await store.commands.putUser({ id: '1', login: 'u', stream_key: anyStreamKey('u'), now: Date.now() })
}

/** Adds a client that subscribes. */
export async function addClient(store: Store, id = 'app'): Promise<void> {
  const client = { name: 'Shop', organization_id: null, owner_user_id: null, implicit_grant: false }
  await store.commands.createClient({
    client: { ...client, id, kind: 'public', redirect_uris: [] },
    secret_hash: null,
  })
}

let identities = 0

/** A webhook of the client for changes of the broadcaster's channel. */
export const newSubscription = (
  callback: string,
  more: Partial<NewEventSubscription> = {},
): NewEventSubscription => ({
  id: crypto.randomUUID(),
  client_id: 'app',
  owner: '',
  scopes: [],
  type: 'channel.update',
  version: '2',
  condition: { broadcaster_user_id: '1' },
  topic: 'channel.update/2/1',
  method: 'webhook',
  callback,
  session_id: null,
  target: `webhook:${new URL(callback).host}`,
  lane: null,
  identity: `identity ${++identities}`,
  key_id: 'test',
  sealed: 'sealed',
  ...more,
})

export const subscribe = (store: Store, subscription: NewEventSubscription) =>
  store.commands.createEventSubscription({ subscription, now: Date.now() })
