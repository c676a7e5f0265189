/**
 * Compares what media servers have with what the store knows, because no media server repeats a lost callback. A publisher
 * that is gone ends, one whose start was missed starts, the others stay alive, and viewers are counted.
 *
 * One process at a time does this for a media server. While its API does not answer, its sessions are kept alive for the
 * reconnect grace, so that a short outage ends no broadcast; after that they fall silent and end. Sessions of a media server
 * without an API last until it reports their end.
 */

import { isRefusal } from '../contract/problem.ts'
import { Outage } from '../kit/telemetry/outage.ts'
import { withTimeout } from '../kit/time/with-timeout.ts'
import type { KnownSession, MediaServerRow } from '../store/queries/media-servers.ts'
import type { MediaServerApi, Publisher } from './adapters/adapter.ts'
import { adapters } from './adapters/index.ts'
import { createApiCall } from './api-call.ts'
import { type Channel, openUnlessAway } from './may-publish.ts'
import type { MediaServers } from './media-servers.ts'
import { isPolled, openPublishSession, type SessionContext } from './sessions.ts'
import type { ViewerSessions } from './viewer-sessions.ts'

/** A turn lasts over a missed poll, and is over before the sessions are silent. */
const TURN_SECONDS = 10
/** A media server may report a publisher only some seconds after it was let in. */
const UNREPORTED_MILLISECONDS = 5000
const LOOK_AGAIN_MILLISECONDS = 500
/** Missed starts that are made up for at a time. */
const MOST_REVIVED = 500
const MOST_PENDING = 10_000
/** How long a media server that asks late may take to ask about a publisher. */
const UNASKED_MILLISECONDS = 3000
const PENDING_MILLISECONDS = 10 * 60_000

export interface ReconcilerOptions extends SessionContext {
  readonly servers: MediaServers
  readonly viewers: ViewerSessions
  readonly graceSeconds: number
  /** The name of this process among those that take turns. */
  readonly holder: string
}

interface PendingSession {
  readonly server: MediaServerRow
  readonly session: string
  readonly channel: Channel
  readonly since: number
}

export class Reconciler {
  readonly #options: ReconcilerOptions
  readonly #answeredAt = new Map<string, number>()
  readonly #outages = new Map<string, Outage>()
  readonly #pending = new Map<string, PendingSession>()
  /** Publishers that no callback asked about, with the time when they were first seen; by media server. */
  readonly #unasked = new Map<string, ReadonlyMap<string, number>>()

  constructor(options: ReconcilerOptions) {
    this.#options = options
  }

  /** Compares all media servers; called every few seconds. */
  async reconcileAll(): Promise<void> {
    const { store, servers, holder } = this.#options
    await Promise.all(
      servers.all().map(async server => {
        const turn = { name: `media-server/${server.name}`, holder, seconds: TURN_SECONDS }
        if (await store.commands.takeTurn(turn)) await this.#compare(server)
      }),
    )
  }

  /** Opens a session when the store answers again. */
  openLater(server: MediaServerRow, session: string, channel: Channel): void {
    if (this.#pending.size >= MOST_PENDING) return
    this.#pending.set(pendingKey(server, session), { server, session, channel, since: performance.now() })
  }

  /** The publisher has ended meanwhile. */
  forgetPending(server: MediaServerRow, session: string): void {
    this.#pending.delete(pendingKey(server, session))
  }

  /** Opens the sessions that the store could not take; called every second. */
  async openPending(): Promise<void> {
    for (const [key, { server, session, channel, since }] of this.#pending) {
      if (performance.now() - since < PENDING_MILLISECONDS) {
        const open = () => openPublishSession(this.#options, server, session, channel)
        const opened = await openUnlessAway({ open })
        if (opened === undefined) return
        // It was accepted when the store did not answer.
        if (isRefusal(opened)) await this.#kick(server, { session, login: channel.login })
      }
      this.#pending.delete(key)
    }
  }

  /** Asks the media server of the live session of a channel whether it still has it. False: it cannot be asked. */
  async lookAgain({ user_id }: Channel): Promise<boolean> {
    const { store, servers } = this.#options
    const other = await store.mediaServers.liveSessionOf(user_id)
    const server = other && servers.find(other.adapter, other.server)
    if (server === undefined || !isPolled(server)) return false
    const compared = this.#compare(server).then(() => true)
    return withTimeout(LOOK_AGAIN_MILLISECONDS, compared, () => false)
  }

  /** Disconnects publishers whose sessions were ended by an operator or taken over; called every second. */
  async disconnectDismissed(): Promise<void> {
    const { store, servers, log } = this.#options
    const silent = new Set<MediaServerRow>()
    for (const { login, ...id } of await store.mediaServers.dismissed(KICKING)) {
      const server = servers.find(id.adapter, id.server)
      if (server?.api_url == null || silent.has(server)) continue
      if (!(await this.#kick(server, { session: id.session, login }))) {
        // The others of this media server would wait for it too.
        silent.add(server)
        continue
      }
      await store.commands.settleDismissal(id)
      log.info({ adapter: id.adapter, server: id.server, login }, 'publisher disconnected')
    }
  }

  async #compare(server: MediaServerRow): Promise<void> {
    const { store, clock } = this.#options
    const began = clock.now()
    const beganAt = performance.now()
    const known = await store.mediaServers.sessionsOf(server.adapter, server.name)
    const live = known.filter(({ ended_at }) => ended_at === null)
    const { api } = adapters[server.adapter]
    if (server.api_url === null || api === undefined) {
      await this.#keepAlive(server, live)
      return this.#countReported(live)
    }
    const publishers = await this.#poll(server, server.api_url, api)
    if (publishers === undefined) {
      if (this.#isOutageShort(server)) await this.#keepAlive(server, live)
      return
    }
    const reported = new Set(publishers.map(({ session }) => session))
    const { adapter, name } = server
    await this.#keepAlive(server, publishers)
    if (live.some(({ session }) => !reported.has(session))) {
      const started_before = began - UNREPORTED_MILLISECONDS
      const sessions = [...reported]
      const observed = { sessions, started_before, observed_at: began }
      await store.commands.closeOtherSessions({ adapter, server: name, ...observed })
    }
    // After a pause of this process, another one has had the turn and has seen more.
    if (performance.now() - beganAt > TURN_SECONDS * 1000) return
    const asked = adapters[adapter].asksLate
      ? await this.#disconnectUnasked(server, known, publishers)
      : publishers
    const revived = await this.#revive(server, known, asked)
    await this.#reportViewers(new Map([...live.map(idPair), ...revived]), publishers)
  }

  async #keepAlive(server: MediaServerRow, alive: readonly { readonly session: string }[]): Promise<void> {
    const { store, clock } = this.#options
    const sessions = alive.map(({ session }) => session)
    const { adapter, name } = server
    await store.commands.keepSessionsAlive({ adapter, server: name, sessions, now: clock.now() })
  }

  /** Undefined: the API did not answer. */
  async #poll(server: MediaServerRow, url: string, api: MediaServerApi): Promise<Publisher[] | undefined> {
    try {
      const publishers = await api.publishers(createApiCall(server, url))
      this.#answeredAt.set(server.name, performance.now())
      const ended = this.#outages.get(server.name)?.end(performance.now())
      if (ended !== undefined)
        this.#options.log.info(
          { server: server.name, seconds: ended.seconds },
          'the media server answers again',
        )
      return publishers
    } catch (error) {
      this.#noteFailure(server, error)
      return undefined
    }
  }

  #noteFailure({ name, adapter }: MediaServerRow, error: unknown): void {
    const outage = this.#outages.get(name) ?? new Outage()
    this.#outages.set(name, outage)
    const report = outage.fail(performance.now())
    if (report === undefined) return
    const { failures } = report
    this.#options.log.warn(
      { adapter, server: name, error: (error as Error).message, failures },
      'the API of a media server does not answer',
    )
  }

  /** At the start nothing is known about the past, so an outage begins now. */
  #isOutageShort({ name }: MediaServerRow): boolean {
    const answeredAt = this.#answeredAt.get(name) ?? performance.now()
    this.#answeredAt.set(name, answeredAt)
    return performance.now() - answeredAt < this.#options.graceSeconds * 1000
  }

  /**
   * Disconnects publishers that were let in while Strand did not answer: their keys were not checked. An encoder returns by
   * itself, and is asked for its key then. Returns the other publishers.
   */
  async #disconnectUnasked(
    server: MediaServerRow,
    known: readonly KnownSession[],
    publishers: readonly Publisher[],
  ): Promise<Publisher[]> {
    const { clock, log } = this.#options
    const asked = new Set(known.map(({ session }) => session))
    const isAsked = ({ session }: Publisher) =>
      asked.has(session) || this.#pending.has(pendingKey(server, session))
    const before = this.#unasked.get(server.name)
    const now = clock.now()
    const unasked = publishers.filter(each => !isAsked(each))
    this.#unasked.set(
      server.name,
      new Map(unasked.map(({ session }) => [session, before?.get(session) ?? now])),
    )
    for (const { session, login } of unasked) {
      if (now - (before?.get(session) ?? now) < UNASKED_MILLISECONDS) continue
      if (!(await this.#kick(server, { session, login }))) break
      log.info(
        { adapter: server.adapter, server: server.name },
        'publisher disconnected: its key was not checked',
      )
    }
    return publishers.filter(isAsked)
  }

  /** False: the API did not answer. */
  async #kick(server: MediaServerRow, publisher: { session: string; login: string }): Promise<boolean> {
    try {
      if (server.api_url !== null)
        await adapters[server.adapter].api?.kick?.(createApiCall(server, server.api_url), publisher)
      return true
    } catch (error) {
      this.#noteFailure(server, error)
      return false
    }
  }

  /** Starts sessions that the media server has and the store does not know. Returns session and user of each. */
  async #revive(
    server: MediaServerRow,
    known: readonly KnownSession[],
    publishers: readonly Publisher[],
  ): Promise<(readonly [session: string, user_id: string])[]> {
    const settled = new Set(
      known
        .filter(each => each.ended_at === null || each.dismissed_at !== null)
        .map(({ session }) => session),
    )
    const revived: (readonly [string, string])[] = []
    for (const { session, login } of publishers
      .filter(each => !settled.has(each.session))
      .slice(0, MOST_REVIVED)) {
      // A user may have another login by now, and another user this one.
      const before = known.find(each => each.session === session && each.login === login.toLowerCase())
      const channel = before ?? (await this.#findChannel(login))
      if (channel === undefined) continue
      const opened = await openPublishSession(this.#options, server, session, channel)
      if (!isRefusal(opened)) revived.push([session, channel.user_id])
    }
    return revived
  }

  async #findChannel(login: string): Promise<Channel | undefined> {
    const user = await this.#options.store.users.withLogin(login)
    return user && { user_id: user.id, login: user.login }
  }

  async #reportViewers(users: ReadonlyMap<string, string>, publishers: readonly Publisher[]): Promise<void> {
    const counts = publishers.flatMap(({ session, viewers }) => {
      const user_id = users.get(session)
      return user_id === undefined || viewers === undefined ? [] : [[user_id, viewers] as const]
    })
    await this.#setCounts(counts)
  }

  /** Viewers that the media server reported one by one. */
  async #countReported(live: readonly KnownSession[]): Promise<void> {
    const { viewers } = this.#options
    const counts = live
      .filter(({ login }) => viewers.knows(login))
      .map(({ user_id, login }) => [user_id, viewers.countViewers(login)] as const)
    await this.#setCounts(counts)
  }

  /** Where players send heartbeats, those are the count: a media server does not see who watches through a cache. */
  async #setCounts(counts: readonly (readonly [user_id: string, viewers: number])[]): Promise<void> {
    if (counts.length === 0) return
    const { store } = this.#options
    const heard = await store.streams.withHeartbeats(counts.map(([user_id]) => user_id))
    const unheard = counts.filter(([user_id]) => !heard.has(user_id))
    if (unheard.length > 0) await store.commands.reportViewers({ counts: unheard })
  }
}

/** Adapters whose media servers can disconnect a publisher. */
const KICKING = Object.entries(adapters)
  .filter(([, { api }]) => api?.kick !== undefined)
  .map(([name]) => name)

const idPair = ({ session, user_id }: KnownSession): readonly [string, string] => [session, user_id]

const pendingKey = ({ name }: MediaServerRow, session: string): string => `${name}/${session}`
