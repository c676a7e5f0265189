/** A receiver of webhooks on loopback, which checks every message with independent code. */
import { expect } from 'bun:test'
import type { Server } from 'bun'
import type { TestServer } from '../support/server.ts'

export const SECRET = 'a secret of 10 to 100 characters ~!'

export interface Received {
  readonly path: string
  readonly id: string
  readonly retry: string
  readonly kind: string
  readonly timestamp: string
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a body is whatever the server sent; tests look into it freely
  readonly body: any
  /** When it arrived, by the clock of the test. */
  readonly at: number
}

type Answer = Response | undefined | Promise<Response | undefined>

/** Answers verifications with their challenge and everything else with 204, unless a test decides otherwise. */
export class Receiver {
  readonly received: Received[] = []
  /** Signatures that did not match. */
  readonly forged: Received[] = []
  readonly #server: Server<undefined>
  readonly #isTls: boolean
  #inFlight = 0
  /** The most requests at once. */
  peak = 0
  answer: (message: Received) => Answer = () => undefined

  constructor(secret = SECRET, tls?: { readonly cert: string; readonly key: string }) {
    this.#isTls = tls !== undefined
    this.#server = Bun.serve({
      ...(tls && { tls }),
      hostname: '127.0.0.1',
      port: 0,
      idleTimeout: 60,
      fetch: async request => {
        this.#inFlight += 1
        this.peak = Math.max(this.peak, this.#inFlight)
        let isOver = false
        const end = () => {
          if (!isOver) this.#inFlight -= 1
          isOver = true
        }
        // The sender may give up before the answer.
        request.signal.addEventListener('abort', end)
        try {
          const text = await request.text()
          const header = (name: string) => request.headers.get(`twitch-eventsub-${name}`) ?? ''
          const message: Received = {
            path: new URL(request.url).pathname,
            id: header('message-id'),
            retry: header('message-retry'),
            kind: header('message-type'),
            timestamp: header('message-timestamp'),
            headers: request.headers,
            text,
            body: JSON.parse(text),
            at: Date.now(),
          }
          this.received.push(message)
          if (!(await isSigned(message, header('message-signature'), secret))) this.forged.push(message)
          const own = await this.answer(message)
          if (own !== undefined) return own
          return message.kind === 'webhook_callback_verification'
            ? new Response(message.body.challenge)
            : new Response(null, { status: 204 })
        } finally {
          end()
        }
      },
    })
  }

  url(path = '/events'): string {
    return `${this.#isTls ? 'https://localhost' : 'http://127.0.0.1'}:${this.#server.port}${path}`
  }

  notifications(path?: string): Received[] {
    return this.received.filter(
      each => each.kind === 'notification' && (path === undefined || each.path === path),
    )
  }

  of(kind: string, path?: string): Received[] {
    return this.received.filter(each => each.kind === kind && (path === undefined || each.path === path))
  }

  async stop(): Promise<void> {
    await this.#server.stop(true)
  }
}

/** The check that the documentation of the protocol describes, with the Web Crypto API. */
async function isSigned(
  { id, timestamp, text }: Received,
  signature: string,
  secret: string,
): Promise<boolean> {
  const encoder = new TextEncoder()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign'])
  const digest = await crypto.subtle.sign('HMAC', key, encoder.encode(id + timestamp + text))
  const hex = Array.from(new Uint8Array(digest), byte => byte.toString(16).padStart(2, '0')).join('')
  return signature === `sha256=${hex}`
}

interface Wanted {
  readonly type: string
  readonly version?: string
  readonly condition: Readonly<Record<string, string>>
  readonly callback: string
  readonly token?: string
  readonly secret?: string
}

/** Creates a subscription by webhook; gives its id. */
export async function subscribe(server: TestServer, wanted: Wanted): Promise<string> {
  const { type, version = '1', condition, callback, token = server.world.client.app_token } = wanted
  const answer = await server.call({
    method: 'POST',
    path: '/helix/eventsub/subscriptions',
    token,
    body: {
      type,
      version,
      condition,
      transport: { method: 'webhook', callback, secret: wanted.secret ?? SECRET },
      ...(type === 'drop.entitlement.grant' && { is_batching_enabled: true }),
    },
  })
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)])
  return answer.body.data[0].id
}

export async function statusOf({ strand }: TestServer, id: string): Promise<string | undefined> {
  return (await strand.services.store.eventSubscriptions.find(id))?.status
}

/** Waits until no message of the subscription is left to send: nothing follows unless something else happens. */
export async function settled(server: TestServer, id: string): Promise<void> {
  const pending = `select 1 from event_deliveries where subscription_id = '${id}' and due_at is not null`
  await until(async () => (await server.execute(pending)).length === 0)
}

/** The same, once the callback is verified. */
export async function subscribed(server: TestServer, wanted: Wanted): Promise<string> {
  const id = await subscribe(server, wanted)
  await until(async () => (await statusOf(server, id)) === 'enabled')
  return id
}

/** Subscribes a session to the changes of the broadcaster's channel, or to what the changes name instead. */
export function subscribeSocket(server: TestServer, session_id: string, changes: object = {}) {
  const { id, token } = server.world.broadcaster
  return server.call({
    method: 'POST',
    path: '/helix/eventsub/subscriptions',
    token,
    body: {
      type: 'channel.update',
      version: '2',
      condition: { broadcaster_user_id: id },
      transport: { method: 'websocket', session_id },
      ...changes,
    },
  })
}

/** Waits for a condition; the time limit of the test ends it. */
export async function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isMet())) await Bun.sleep(20)
}
