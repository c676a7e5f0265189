import type { MessageFaults } from '../message-faults.ts'
import { CLOSE_REASONS, type CloseReason } from './socket-close.ts'
import { keepalive, reconnect, type SessionFacts, welcome } from './socket-message.ts'

/** The connection under a WebSocket. */
export interface Connection {
  /** Returns 0 if the text was dropped. */
  send(text: string): number
  ping(payload: string): number
  /** Bytes that the network has not taken yet. */
  getBufferedAmount(): number
  close(code: number, reason: string): void
}

/** Messages that were sent together, in the order of their pings. */
interface Sent {
  readonly ping: number
  readonly at: number
  /** Empty for a ping that only checks the connection. */
  readonly deliveries: readonly string[]
}

/** A message of a subscription. */
export interface SocketMessage {
  readonly id: string
  readonly text: string
  readonly type: string
  readonly subscription_id: string
}

/** Messages that may be on their way to a client that has not confirmed them. */
const MAX_UNCONFIRMED = 100
const PING_MILLISECONDS = 30_000
const PONG_MILLISECONDS = 15_000

/**
 * One session on a WebSocket. A ping follows every group of messages: its pong shows that the client has received them, so
 * nothing counts as delivered that was lost with a connection.
 */
export class EventSocket {
  readonly facts: SessionFacts
  readonly openedAt: number
  isUsed: boolean
  /** When a session that has to move ends, on the monotonic clock. */
  movesBy: number | undefined
  readonly #connection: Connection
  #sentAt: number
  #pingedAt: number
  #pings = 0
  #unconfirmed: Sent[] = []
  #closed = false
  readonly #faults: MessageFaults | undefined
  #isSilent = false

  constructor(
    facts: SessionFacts,
    connection: Connection,
    now: number,
    { isUsed, faults }: { readonly isUsed: boolean; readonly faults?: MessageFaults | undefined },
  ) {
    this.facts = facts
    this.#connection = connection
    this.openedAt = now
    this.#sentAt = now
    this.#pingedAt = now
    this.isUsed = isUsed
    this.#faults = faults
  }

  /** Whether a fault of a demo has silenced it: it stays open and sends nothing more, not even a ping. */
  get isSilent(): boolean {
    return this.#isSilent
  }

  get isOpen(): boolean {
    return !this.#closed
  }

  /** Whether messages that were claimed for it may be sent: its client has neither left nor been asked to move. */
  get isTaking(): boolean {
    return !this.#closed && this.movesBy === undefined
  }

  /** How many more messages may be sent now. */
  get room(): number {
    if (!this.isTaking || this.#isSilent) return 0
    return MAX_UNCONFIRMED - this.#unconfirmed.reduce((sum, sent) => sum + sent.deliveries.length, 0)
  }

  /** The deliveries that the client has not confirmed. */
  get unconfirmed(): string[] {
    return this.#unconfirmed.flatMap(sent => sent.deliveries)
  }

  welcome(now: number): void {
    this.#send(welcome(this.facts), now)
  }

  /** Sends messages, and a ping after them. */
  deliver(messages: readonly SocketMessage[], now: number): void {
    for (const { text, type, subscription_id } of messages)
      if (!this.#goesSilent({ type, subscription_id })) this.#send(text, now)
    this.#ping(
      messages.map(({ id }) => id),
      now,
    )
  }

  /** The deliveries that a pong confirms. */
  confirm(payload: string): string[] {
    const ping = Number(payload)
    // False also for a pong that answers no ping, whatever it contains.
    const isConfirmed = (sent: Sent) => sent.ping <= ping
    const confirmed = this.#unconfirmed.filter(isConfirmed)
    this.#unconfirmed = this.#unconfirmed.filter(sent => !isConfirmed(sent))
    return confirmed.flatMap(sent => sent.deliveries)
  }

  /** Asks the client to connect to a URL instead, and sends nothing more. */
  askToMove(url: string, now: number, movesBy: number): void {
    if (this.movesBy !== undefined) return
    this.#send(reconnect(this.facts, url), now)
    this.movesBy = movesBy
  }

  /** Sends what is due. Returns why the session has to end, if so. */
  tick(now: number): CloseReason | undefined {
    if (this.#isSilent) return undefined
    const [oldest] = this.#unconfirmed
    if (oldest !== undefined && now - oldest.at > PONG_MILLISECONDS)
      return this.#connection.getBufferedAmount() > 0 ? 'timeout' : 'pingPong'
    if (this.movesBy !== undefined) return now > this.movesBy ? 'notMoved' : undefined
    if (now - this.#pingedAt > PING_MILLISECONDS && oldest === undefined) this.#ping([], now)
    // A second early: clients measure the time between messages.
    const isDue = now - this.#sentAt >= (this.facts.keepalive_seconds - 1) * 1000
    if (isDue && !this.#goesSilent({})) this.#send(keepalive(), now)
    return undefined
  }

  /** Before a message is sent: whether a fault applies to it. */
  #goesSilent(message: Readonly<Record<string, string>>): boolean {
    if (this.#isSilent) return true
    const facts = { ...message, session_id: this.facts.id }
    this.#isSilent = this.#faults?.takeMessage(['socket_silent'], facts) !== undefined
    return this.#isSilent
  }

  close(reason: CloseReason): void {
    const { code, text } = CLOSE_REASONS[reason]
    this.hangUp(code, text)
  }

  /** Closes the connection without a statement about its session, which may live on elsewhere. */
  hangUp(code: number, text: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#connection.close(code, text)
  }

  noteClosed(): void {
    this.#closed = true
  }

  #send(text: string, now: number): void {
    if (this.#closed || this.#isSilent) return
    this.#connection.send(text)
    this.#sentAt = now
  }

  #ping(deliveries: readonly string[], now: number): void {
    if (this.#closed || this.#isSilent) return
    this.#pings += 1
    this.#pingedAt = now
    this.#unconfirmed.push({ ping: this.#pings, at: now, deliveries })
    this.#connection.ping(String(this.#pings))
  }
}
