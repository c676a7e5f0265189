import type { EventSubscription, Events } from './api.ts'

/** Receives events by webhook: checks signature and age, answers verifications, and leaves out what came before. */

const PREFIX = 'twitch-eventsub-'
const MAX_AGE_SECONDS = 600
/** A request with batched events has at most 250,000 bytes, and the subscription beside them is small. */
const MAX_BODY_BYTES = 300_000
const MAX_REMEMBERED = 10_000

export interface SignedMessage {
  /** As received: `Headers`, or an object with lower-case names as Node has it. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The bytes or the text of the body, before any parsing. */
  readonly body: string | Uint8Array
}

/**
 * Whether a message was signed with this secret, or one of these while a secret is being replaced, and is recent. Compares
 * in constant time.
 */
export async function verifySignature(
  message: SignedMessage,
  secrets: string | readonly string[],
  options: { readonly now?: number; readonly maxAgeSeconds?: number } = {},
): Promise<boolean> {
  const id = readHeader(message, 'message-id')
  const timestamp = readHeader(message, 'message-timestamp')
  const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(readHeader(message, 'message-signature') ?? '') ?? []
  if (id === undefined || timestamp === undefined || hex === undefined) return false
  const sentAt = Date.parse(timestamp)
  const { now = Date.now(), maxAgeSeconds = MAX_AGE_SECONDS } = options
  // Written so that a time that is not one is refused too.
  if (!(Math.abs(now - sentAt) <= maxAgeSeconds * 1000)) return false
  const signed = await joined([id, timestamp, message.body])
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets)
    if (await isSignedWith(secret, bytesOfHex(hex), signed)) return true
  return false
}

function readHeader({ headers }: SignedMessage, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(PREFIX + name) ?? undefined
  const value = (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[PREFIX + name]
  return typeof value === 'string' ? value : value?.[0]
}

async function joined(parts: readonly (string | Uint8Array)[]): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer())
}

/** Web Crypto compares in constant time. */
async function isSignedWith(
  secret: string,
  signature: Uint8Array<ArrayBuffer>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const raw = new TextEncoder().encode(secret)
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  return crypto.subtle.verify('HMAC', key, signature, bytes)
}

function bytesOfHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], pair => Number.parseInt(pair, 16))
}

/** One event, with the id by which it is recognized if it comes twice. */
export type ReceivedEvent = {
  [Name in keyof Events]: {
    readonly id: string
    readonly type: Name
    readonly event: Events[Name]
    readonly subscription: EventSubscription
  }
}[keyof Events]

export interface EventReceiverOptions {
  /** The secret of the subscriptions; several while one is being replaced. */
  readonly secrets: string | readonly string[]
  /** Called once for each event. If it throws, the answer is 500 and the message comes again. */
  readonly onEvent: (received: ReceivedEvent) => void | Promise<void>
  /** Called when a subscription has ended; its status has the reason. */
  readonly onRevocation?: (subscription: EventSubscription) => void | Promise<void>
  readonly now?: () => number
}

/**
 * Answers the requests of a webhook, as a handler of a server that has `Request` and `Response`. Messages that came before
 * are answered and not passed on; the last 10,000 ids are remembered, in memory.
 */
export function createEventReceiver(options: EventReceiverOptions): (request: Request) => Promise<Response> {
  const { secrets, onEvent, onRevocation, now = () => Date.now() } = options
  const seen = new Map<string, Promise<void>>()
  const once = async (id: string, work: () => Promise<void>): Promise<void> => {
    const earlier = seen.get(id)
    if (earlier !== undefined) return earlier
    const working = work()
    seen.set(id, working)
    for (const oldest of seen.keys()) {
      if (seen.size <= MAX_REMEMBERED) break
      seen.delete(oldest)
    }
    try {
      await working
    } catch (error) {
      seen.delete(id)
      throw error
    }
  }
  return async request => {
    const bytes = await readBounded(request)
    if (bytes === undefined) return new Response(null, { status: 413 })
    if (!(await verifySignature({ headers: request.headers, body: bytes }, secrets, { now: now() })))
      return new Response(null, { status: 403 })
    const id = request.headers.get(`${PREFIX}message-id`) ?? ''
    const message = parsed(bytes)
    if (message === undefined) return new Response(null, { status: 400 })
    if (typeof message.challenge === 'string')
      return new Response(message.challenge, { headers: { 'Content-Type': 'text/plain' } })
    try {
      await once(id, async () => {
        if (request.headers.get(`${PREFIX}message-type`) === 'revocation')
          await onRevocation?.(message.subscription)
        else for (const received of listEvents(id, message)) await onEvent(received)
      })
    } catch {
      return new Response(null, { status: 500 })
    }
    return new Response(null, { status: 204 })
  }
}

interface Message {
  readonly challenge?: unknown
  readonly subscription: EventSubscription
  readonly event?: unknown
  readonly events?: readonly { readonly id: string; readonly data: unknown }[]
}

function listEvents(id: string, { subscription, event, events }: Message): ReceivedEvent[] {
  const type = subscription.type
  const all = events ?? [{ id, data: event }]
  return all.map(each => ({ id: each.id, type, event: each.data, subscription }) as ReceivedEvent)
}

function parsed(bytes: Uint8Array): Message | undefined {
  try {
    const message = JSON.parse(new TextDecoder().decode(bytes)) as Message
    return typeof message?.subscription === 'object' ? message : undefined
  } catch {
    return undefined
  }
}

/** The body, or undefined if it is too large. */
async function readBounded(request: Request): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  for (;;) {
    const step = await reader?.read()
    if (step === undefined || step.done) break
    size += step.value.length
    if (size > MAX_BODY_BYTES) {
      await reader?.cancel()
      return undefined
    }
    chunks.push(step.value)
  }
  return joined(chunks)
}
