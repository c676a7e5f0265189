import type { SubscriptionStatus } from '../../contract/resources/event-subscription.ts'
import type { KeyRing } from '../../kit/crypto/key-ring.ts'
import { SignedText } from '../../kit/crypto/signed-text.ts'
import { randomAlphanumerics, uuid } from '../../kit/id.ts'
import { Lifetime } from '../../kit/lifetime.ts'
import { Batcher } from '../../kit/queues/batcher.ts'
import { NetworkShares } from '../../kit/queues/network-shares.ts'
import type { Log } from '../../kit/telemetry/log.ts'
import { repeaterOf } from '../../kit/telemetry/log-outages.ts'
import type { Measured, Metrics } from '../../kit/telemetry/metrics.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { nodeTurn } from '../../store/queries/event-sockets.ts'
import type { Store } from '../../store/store.ts'
import type { MessageFaults } from '../message-faults.ts'
import { patiently } from '../patiently.ts'
import { type Connection, EventSocket } from './event-socket.ts'
import { CLOSE_REASONS, type CloseReason, statusAfter } from './socket-close.ts'
import { SocketDeliveries } from './socket-deliveries.ts'
import type { SessionFacts } from './socket-message.ts'

/** How long a client has to subscribe, and to move when it is asked to. */
const UNUSED_MILLISECONDS = 10_000
const MOVE_MILLISECONDS = 30_000
/** The time between two messages that a client may choose. */
const MIN_KEEPALIVE = 10
const MAX_KEEPALIVE = 600

const TICK_MILLISECONDS = 1000
const POLL_MILLISECONDS = 250
const ALIVE_MILLISECONDS = 10_000
const LEASE_SECONDS = 30
/** Sessions that one command opens, moves or ends. When a node restarts, all of its clients come at the same time. */
const SESSION_BATCH_SIZE = 200

/** What a client asks for when it connects. */
export interface SocketRequest {
  readonly keepalive?: string | undefined
  /** From the URL of a `session_reconnect` message. */
  readonly reconnect?: string | undefined
  /** Leaves the place that the client has taken. */
  readonly leave: () => void
}

export function isKeepalive(text: string): boolean {
  return /^[1-9][0-9]{1,2}$/.test(text) && Number(text) >= MIN_KEEPALIVE && Number(text) <= MAX_KEEPALIVE
}

export interface EventSocketsOptions {
  readonly store: Store
  readonly ring: KeyRing
  readonly log: Log
  /** The URL of this installation, with `http` or `https`. */
  readonly publicUrl: string
  /** Maximum WebSockets of this process. */
  readonly most: number
  /** Planned in a demo. */
  readonly faults?: MessageFaults | undefined
}

/**
 * The WebSockets of this process. Which node has which one is stored, so that subscriptions can be made and events happen on
 * any node, and a session can move. A node that has any holds a lease: when it ends, other nodes end its sessions.
 */
export class EventSockets implements Measured {
  readonly #node = uuid()
  readonly #store: Store
  readonly #log: Log
  readonly #reconnects: SignedText
  readonly #url: string
  readonly #places: NetworkShares
  readonly #sockets = new Map<string, EventSocket>()
  readonly #byConnection = new Map<Connection, EventSocket>()
  readonly #opening = new Set<Connection>()
  readonly #jobs = new Lifetime()
  #isDraining = false
  #leasedAt = Number.NEGATIVE_INFINITY
  #leasing: Promise<void> | undefined
  readonly #begun: Batcher<SessionFacts, undefined>
  readonly #moved: Batcher<string, SessionFacts | undefined>
  readonly #ended: Batcher<{ id: string; status: SubscriptionStatus }, undefined>
  readonly #deliveries: SocketDeliveries
  readonly #faults: MessageFaults | undefined
  #opened = 0
  readonly #closes = new Map<CloseReason | 'client', number>()

  constructor({ store, ring, log, publicUrl, most, faults }: EventSocketsOptions) {
    this.#faults = faults
    this.#store = store
    this.#log = log
    this.#reconnects = new SignedText(ring, 'event-reconnect')
    this.#url = `${publicUrl.replace(/^http/, 'ws').replace(/\/$/, '')}/ws`
    this.#places = new NetworkShares(most)
    const node = this.#node
    this.#deliveries = new SocketDeliveries({ store, log, node, sockets: this.#sockets })
    this.#begun = new Batcher(async sockets => {
      await patiently(() => store.commands.openSockets({ node, sockets }))
      return sockets.map(() => undefined)
    }, SESSION_BATCH_SIZE)
    this.#moved = new Batcher(async ids => {
      const moved = await patiently(() => store.commands.moveSockets({ node, ids }))
      return ids.map(id => moved.find(each => each.id === id))
    }, SESSION_BATCH_SIZE)
    this.#ended = new Batcher(async sockets => {
      await patiently(() => store.commands.closeSockets({ node, sockets }))
      return sockets.map(() => undefined)
    }, SESSION_BATCH_SIZE)
    if (most === 0) return
    store.onAnnouncement(() => this.#deliveries.wake())
    const every = repeaterOf(this.#jobs, log)
    every(TICK_MILLISECONDS, () => this.#tick(), 'looking after WebSockets failed')
    every(POLL_MILLISECONDS, () => this.#deliveries.deliverAll(), 'delivering events to WebSockets failed')
    every(ALIVE_MILLISECONDS, () => this.#keepAlive(), 'renewing the lease of WebSockets failed')
  }

  /** Takes a place for a client. Returns a function that leaves it, or undefined if there is none. */
  takePlace(address: string): (() => void) | undefined {
    return this.#isDraining ? undefined : this.#places.take(address)
  }

  get size(): number {
    return this.#sockets.size
  }

  measure(metrics: Metrics): void {
    metrics.gauge('strand_event_sockets', 'WebSockets that are open.', this.#sockets.size)
    metrics.counter('strand_event_sockets_opened_total', 'WebSockets opened.', this.#opened)
    metrics.counter(
      'strand_event_socket_deliveries_total',
      'Messages that clients confirmed on WebSockets.',
      this.#deliveries.delivered,
    )
    metrics.counter(
      'strand_event_sockets_closed_total',
      'WebSockets closed, by reason.',
      [...Object.keys(CLOSE_REASONS), 'client'].map(
        reason => [{ reason }, this.#closes.get(reason as CloseReason) ?? 0] as const,
      ),
    )
  }

  /** A client has connected. It is welcomed when its session is stored. */
  async open(connection: Connection, request: SocketRequest): Promise<void> {
    this.#opening.add(connection)
    try {
      const socket = await (request.reconnect === undefined
        ? this.#begin(connection, Number(request.keepalive ?? MIN_KEEPALIVE))
        : this.#move(connection, request.reconnect))
      if (socket === undefined) return
      // A client may have left while its session was being stored.
      if (!this.#opening.has(connection)) return this.#end(socket, statusAfter(1006))
      this.#opened += 1
      this.#sockets.set(socket.facts.id, socket)
      this.#byConnection.set(connection, socket)
      socket.welcome(performance.now())
      if (request.reconnect !== undefined) this.#deliveries.wake()
    } catch (error) {
      this.#log.warn({ error: String(error) }, 'a WebSocket could not be opened')
      const { code, text } = CLOSE_REASONS.internal
      connection.close(code, text)
    } finally {
      this.#opening.delete(connection)
    }
  }

  /** Closes the WebSocket of a client that sends a message: clients must not send any. */
  receive(connection: Connection): void {
    const socket = this.#byConnection.get(connection)
    if (socket !== undefined) void this.#close(socket, 'inbound')
    else connection.close(CLOSE_REASONS.inbound.code, CLOSE_REASONS.inbound.text)
  }

  confirm(connection: Connection, payload: string): void {
    const confirmed = this.#byConnection.get(connection)?.confirm(payload) ?? []
    if (confirmed.length > 0) this.#deliveries.confirm(confirmed)
  }

  /** A connection has ended, from whichever side. */
  async closed(connection: Connection, code: number, { leave }: SocketRequest): Promise<void> {
    leave()
    this.#opening.delete(connection)
    const socket = this.#byConnection.get(connection)
    this.#byConnection.delete(connection)
    if (socket === undefined) return
    const wasOpen = socket.isOpen
    socket.noteClosed()
    if (this.#sockets.get(socket.facts.id) === socket) this.#sockets.delete(socket.facts.id)
    if (socket.movesBy !== undefined) await this.#deliveries.release(socket.unconfirmed)
    else if (wasOpen) {
      this.#count('client')
      await this.#end(socket, statusAfter(code))
    }
  }

  /** Asks all clients to connect again: another node takes over, or this one after a restart. */
  async drain(): Promise<void> {
    if (this.#isDraining) return
    this.#isDraining = true
    if (this.#sockets.size === 0) return
    await this.#lease().catch(error => this.#log.warn({ error: String(error) }, 'renewing the lease failed'))
    const now = performance.now()
    for (const socket of this.#sockets.values()) this.#askToMove(socket, now)
  }

  /** Ends the connections. Sessions live on until they have moved or the lease ends. */
  async stop(): Promise<void> {
    await this.#jobs.close()
    await this.#deliveries.delivery()
    const sockets = [...this.#sockets.values()]
    this.#sockets.clear()
    this.#byConnection.clear()
    for (const socket of sockets) socket.hangUp(CLOSE_REASONS.notMoved.code, 'restarting')
    for (const socket of sockets) await this.#deliveries.release(socket.unconfirmed)
    await this.#deliveries.settlement()
  }

  async #begin(connection: Connection, keepalive_seconds: number): Promise<EventSocket> {
    await this.#ensureLease()
    const facts = {
      id: randomAlphanumerics(27),
      connected_at: isoMillis(Date.now()),
      keepalive_seconds,
    }
    await this.#begun.ask(facts)
    return new EventSocket(facts, connection, performance.now(), { isUsed: false, faults: this.#faults })
  }

  async #move(connection: Connection, signed: string): Promise<EventSocket | undefined> {
    const id = this.#readReconnect(signed)
    await this.#ensureLease()
    const facts = id === undefined ? undefined : await this.#moved.ask(id)
    if (id === undefined || facts === undefined) {
      this.#count('badReconnect')
      connection.close(CLOSE_REASONS.badReconnect.code, CLOSE_REASONS.badReconnect.text)
      return undefined
    }
    // If it was here before, its former connection gets no more messages, and is closed by its client.
    const before = this.#sockets.get(id)
    if (before !== undefined) before.movesBy ??= performance.now() + MOVE_MILLISECONDS
    return new EventSocket(facts, connection, performance.now(), { isUsed: true, faults: this.#faults })
  }

  #askToMove(socket: EventSocket, now: number): void {
    const until = Date.now() + MOVE_MILLISECONDS
    const token = this.#reconnects.sign(JSON.stringify([socket.facts.id, until]))
    socket.askToMove(`${this.#url}?reconnect=${token}`, now, now + MOVE_MILLISECONDS)
  }

  #readReconnect(signed: string): string | undefined {
    const text = this.#reconnects.open(signed)
    if (text === undefined) return undefined
    const [id, until] = JSON.parse(text) as [string, number]
    return Date.now() <= until ? id : undefined
  }

  async #close(socket: EventSocket, reason: CloseReason): Promise<void> {
    socket.close(reason)
    this.#count(reason)
    if (this.#sockets.get(socket.facts.id) === socket) this.#sockets.delete(socket.facts.id)
    await this.#end(socket, CLOSE_REASONS[reason].status)
  }

  /** If the store is unavailable, the session ends with the lease of this node or at the next attempt to send. */
  async #end(socket: EventSocket, status: SubscriptionStatus): Promise<void> {
    await this.#ended
      .ask({ id: socket.facts.id, status })
      .catch(error => this.#log.warn({ error: String(error) }, 'a WebSocket could not be ended in the store'))
  }

  #count(reason: CloseReason | 'client'): void {
    this.#closes.set(reason, (this.#closes.get(reason) ?? 0) + 1)
  }

  async #tick(): Promise<void> {
    const now = performance.now()
    const unused: EventSocket[] = []
    for (const socket of [...this.#sockets.values()]) {
      const reason = socket.tick(now)
      if (reason !== undefined) void this.#close(socket, reason)
      else if (!socket.isUsed && !socket.isSilent && now - socket.openedAt > UNUSED_MILLISECONDS)
        unused.push(socket)
    }
    if (unused.length > 0) await this.#closeUnused(unused)
    if (this.#isDraining) await this.#hangUpMoved()
  }

  async #closeUnused(sockets: readonly EventSocket[]): Promise<void> {
    const used = new Set(await this.#store.eventSockets.used(sockets.map(({ facts }) => facts.id)))
    for (const socket of sockets) {
      if (used.has(socket.facts.id)) socket.isUsed = true
      else void this.#close(socket, 'unused')
    }
  }

  async #hangUpMoved(): Promise<void> {
    if (this.#sockets.size === 0) return
    const here = new Set(await this.#store.eventSockets.ofNode(this.#node))
    for (const [id, socket] of [...this.#sockets]) {
      // What was sent before the client moved is confirmed in a moment; if not, it would be sent again.
      if (here.has(id) || socket.unconfirmed.length > 0) continue
      this.#sockets.delete(id)
      socket.hangUp(1000, 'moved')
    }
  }

  async #ensureLease(): Promise<void> {
    if (performance.now() - this.#leasedAt <= ALIVE_MILLISECONDS) return
    this.#leasing ??= patiently(() => this.#lease()).finally(() => {
      this.#leasing = undefined
    })
    await this.#leasing
  }

  async #lease(): Promise<void> {
    const turn = { name: nodeTurn(this.#node), holder: this.#node, seconds: LEASE_SECONDS }
    await this.#store.commands.takeTurn(turn)
    this.#leasedAt = performance.now()
  }

  async #keepAlive(): Promise<void> {
    const hadLapsed = performance.now() - this.#leasedAt > LEASE_SECONDS * 1000
    if (this.#sockets.size > 0) {
      await this.#lease()
      if (hadLapsed) await this.#closeLost()
    }
    while (await this.#store.eventSockets.hasLost()) await this.#store.commands.closeLostSockets({})
  }

  /** The lease had ended, so other nodes may have ended the sessions. */
  async #closeLost(): Promise<void> {
    const here = new Set(await this.#store.eventSockets.ofNode(this.#node))
    for (const [id, socket] of [...this.#sockets]) if (!here.has(id)) await this.#close(socket, 'internal')
  }
}
