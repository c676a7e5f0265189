/** The embedded media server as a source of publish sessions. */
import { isRefusal } from '../contract/problem.ts'
import { lastHeard } from '../domain/publish-session.ts'
import { decimalId, uuid } from '../kit/id.ts'
import type { Log } from '../kit/telemetry/log.ts'
import { type Clock, isoMillis } from '../kit/time/clock.ts'
import { EncoderMeter } from '../media/encoder-meter.ts'
import type { Broadcast, LiveChannels } from '../media/live-channels.ts'
import type { Recordings } from '../media/recording/recordings.ts'
import type { MediaMessage } from '../media/rtmp/publisher.ts'
import type { Ingest, PublishGrant } from '../media/rtmp-server.ts'
import type { Thumbnails } from '../media/thumbnails.ts'
import type { OpenedSession } from '../store/commands/publish-sessions.ts'
import { Conflict, Unavailable } from '../store/errors.ts'
import type { SessionId } from '../store/queries/media-servers.ts'
import type { Store } from '../store/store.ts'
import { EmbeddedRecordings, type Recorded } from './embedded-recordings.ts'
import { type Channel, type MayPublish, openUnlessAway, type SessionRefusal } from './may-publish.ts'

const ADAPTER = 'embedded'
export const REPORT_MILLISECONDS = 5000
/** A publisher that sent nothing since the last report is not reported as alive. */
const QUIET_MILLISECONDS = REPORT_MILLISECONDS
/** More ends than this are not remembered while the store is away: those sessions fall silent. */
const MOST_UNCLOSED = 10_000

interface EmbeddedOptions {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly mayPublish: MayPublish
  readonly channels: LiveChannels
  /** Undefined: broadcasts are not recorded. */
  readonly recordings: Recordings | undefined
  /** Undefined: channels have no thumbnails of their broadcasts. */
  readonly thumbnails: Thumbnails | undefined
  /** The name of this node among those that share the store. */
  readonly node: string
  /** Where viewers find this node, if others may be asked for its broadcasts. */
  readonly watchUrl: string | null
}

/** A publisher of this process. */
interface Session extends SessionId {
  channel: Channel
  readonly close: (reason?: string) => void
  isClosed: boolean
  heardAt: number
  /** The store could not be asked when the publisher came: the session is opened later. */
  isPending: boolean
  /** Undefined: it is not recorded, or the store does not know of it yet. */
  recorded: Recorded | undefined
  broadcast: Broadcast | undefined
  readonly meter: EncoderMeter
}

export class EmbeddedIngest implements Ingest {
  readonly #options: EmbeddedOptions
  readonly #sessions = new Map<string, Session>()
  readonly #closing = new Set<Promise<void>>()
  /** Sessions that ended while the store did not answer, and when. */
  readonly #unclosed = new Map<Session, number>()
  /** Undefined: broadcasts are not recorded. */
  readonly #recordings: EmbeddedRecordings | undefined
  readonly #startedAt: number
  #isPastForgotten = false

  constructor(options: EmbeddedOptions) {
    this.#options = options
    const { recordings } = options
    this.#recordings = recordings && new EmbeddedRecordings({ ...options, recordings })
    this.#startedAt = options.clock.now()
  }

  /**
   * Ends the sessions that this node had before it was restarted, so that their publishers can return at once. A session was
   * last heard when it was reported as alive, or when its recording ends. Recordings are open from now on, until their streams
   * have ended. Called again until the store has answered.
   */
  async closeStaleSessions(): Promise<void> {
    if (this.#isPastForgotten) return
    const { store, clock, node } = this.#options
    const sessions = await store.mediaServers.unrecordedSessionsOf(ADAPTER, node)
    const startedAt = isoMillis(this.#startedAt)
    for (const past of sessions) {
      if (this.#sessions.has(past.session) || past.alive_at > startedAt) continue
      const id = { adapter: ADAPTER, server: node, session: past.session }
      const { video_id } = past
      const recording = video_id === null ? undefined : await this.#recordings?.reopen(video_id, id)
      if (past.ended_at !== null && recording === undefined) continue
      const now = lastHeard(past, recording?.milliseconds, clock.now())
      await store.commands.closeSession({ ...id, now })
    }
    this.#isPastForgotten = true
    if (this.#recordings !== undefined) this.#settleLater(this.#recordings.reopenInterrupted())
  }

  async authorize(
    request: { readonly name: string; readonly address: string | undefined },
    close: (reason?: string) => void,
  ): Promise<PublishGrant | string | undefined> {
    const { mayPublish, channels, log } = this.#options
    if (!channels.hasRoom()) {
      log.warn('publisher refused: the memory of STRAND_MEDIA_MEMORY_MIB is used by other broadcasts')
      return 'the server has no memory for another broadcast'
    }
    const decision = await mayPublish.decide(request, channel => {
      const session = this.#newSession(channel, close)
      return { session, open: () => this.#open(session), reserve: () => this.#reserve(session) }
    })
    if (decision.kind === 'refused') {
      if (decision.reason === 'wrong_key')
        log.info({ address: request.address }, 'publisher refused: wrong stream key')
      return undefined
    }
    const { channel, opened, attempt } = decision
    const { session } = attempt
    this.#sessions.set(session.session, session)
    if (opened === undefined)
      log.warn({ user_id: channel.user_id }, 'broadcast started; the store is informed when it answers')
    else await this.#opened(session, opened)
    if (!session.isClosed) return this.#start(session)
    // Another publisher took over meanwhile.
    this.#end(session)
    return undefined
  }

  #newSession(channel: Channel, close: Session['close']): Session {
    return {
      ...{ adapter: ADAPTER, server: this.#options.node, session: uuid(), channel, close, isClosed: false },
      heardAt: performance.now(),
      meter: new EncoderMeter(performance.now()),
      isPending: true,
      recorded: undefined,
      broadcast: undefined,
    }
  }

  /** Makes a session known here, unless its channel has one: this keeps a second publisher out while the store does not answer. */
  #reserve(session: Session): boolean {
    if (this.#has(session.channel)) return false
    this.#sessions.set(session.session, session)
    return true
  }

  /** Reports the ends and the starts that the store could not take. Called every second. */
  async catchUp(): Promise<void> {
    for (const session of this.#unclosed.keys()) await this.#closeLate(session)
    for (const session of this.#sessions.values()) {
      if (!session.isPending) continue
      const opened = await openUnlessAway({ open: () => this.#open(session) })
      if (opened === undefined) return
      if (isRefusal(opened)) this.#disconnect(session.session)
      else await this.#opened(session, opened)
      // It stopped meanwhile, perhaps before the store knew of it.
      if (!this.#sessions.has(session.session)) await this.#close(session, this.#options.clock.now())
    }
  }

  /** Reports which sessions are alive, and what they send. Called every few seconds. */
  async report(): Promise<void> {
    const { store, clock, node } = this.#options
    const now = performance.now()
    const alive = this.#known().filter(({ heardAt }) => now - heardAt < QUIET_MILLISECONDS)
    if (alive.length === 0) return
    const sessions = alive.map(({ session }) => session)
    await store.commands.keepSessionsAlive({ adapter: ADAPTER, server: node, sessions, now: clock.now() })
    const encoders = alive.map(({ session, meter, broadcast }) => ({
      session,
      status: { ...meter.read(now), codecs: broadcast?.packager.codecs ?? [] },
    }))
    await store.commands.reportEncoders({ adapter: ADAPTER, server: node, encoders })
  }

  /**
   * Disconnects publishers whose sessions the store has ended: an operator or another node did that, or the store heard
   * nothing of them for too long. Broadcasts of users who have another login get its address. Called every second.
   */
  async disconnectEnded(): Promise<void> {
    const { store, node } = this.#options
    const running = this.#known()
    if (running.length === 0) return
    const known = await store.mediaServers.sessionsOf(ADAPTER, node)
    const live = new Map(known.filter(({ ended_at }) => ended_at === null).map(each => [each.session, each]))
    for (const session of running) {
      const { current_login } = live.get(session.session) ?? {}
      if (current_login === undefined) this.#disconnect(session.session)
      else if (current_login !== session.channel.login) this.#rename(session, current_login)
    }
  }

  #rename(session: Session, login: string): void {
    const { channel, broadcast } = session
    session.channel = { ...channel, login }
    if (broadcast !== undefined && this.#sessions.has(session.session))
      this.#options.channels.rename(channel.login, broadcast, login)
  }

  /** Closes the recordings whose streams have ended. Called every second. */
  async closeRecordings(): Promise<void> {
    const published = new Set(this.#sessions.values().map(({ recorded }) => recorded?.video_id))
    await this.#recordings?.closeEnded(published)
  }

  /** Resolves when the store knows of all sessions that ended, and all recordings are on disk. */
  async settle(): Promise<void> {
    await Promise.all(this.#closing)
    await this.#recordings?.closeAll()
  }

  #has({ user_id }: Channel): boolean {
    return this.#sessions.values().some(({ channel }) => channel.user_id === user_id)
  }

  /** The sessions that the store knows of. */
  #known(): Session[] {
    return [...this.#sessions.values()].filter(({ isPending }) => !isPending)
  }

  async #open(session: Session): Promise<OpenedSession | SessionRefusal> {
    const { store, clock, watchUrl, log } = this.#options
    const { adapter, server, channel } = session
    const { user_id } = channel
    // An encoder that reconnected must not be refused because of itself.
    for (const ended of this.#unclosed.keys())
      if (ended.channel.user_id === user_id) await this.#closeLate(ended)
    // By a clock that was moved, a publisher of this channel may seem silent.
    if (this.#has(channel)) await this.report()
    const now = clock.now()
    const ids = { user_id, stream_id: decimalId(now), video_id: decimalId(now) }
    const id = { adapter, server, session: session.session }
    const opened = await store.commands.openSession({ ...id, ...ids, watch_url: watchUrl, now })
    if (isRefusal(opened)) log.info({ user_id, reason: opened.problem }, 'publisher refused')
    return opened
  }

  async #opened(session: Session, opened: OpenedSession): Promise<void> {
    const { node, log } = this.#options
    const { user_id } = session.channel
    session.isPending = false
    if (opened.replaced?.server === node) this.#disconnect(opened.replaced.session)
    log.info({ user_id, stream_id: opened.stream_id }, 'broadcast started')
    const { video_id } = opened
    session.recorded =
      video_id === null ? undefined : this.#recordings?.record({ ...opened, video_id }, session, user_id)
    if (session.recorded !== undefined) session.broadcast?.packager.attach(session.recorded.receiver)
  }

  #disconnect(session: string): void {
    const known = this.#sessions.get(session)
    if (known === undefined) return
    known.isClosed = true
    known.close()
  }

  #start(session: Session): PublishGrant {
    const { channels, thumbnails, log } = this.#options
    const { login, user_id } = session.channel
    const onTooLarge = () => {
      log.warn(
        { user_id },
        'publisher disconnected: its bit rate does not fit into the memory of a broadcast',
      )
      session.close('the bit rate does not fit into the memory of a broadcast')
    }
    const broadcast = channels.start(login, { id: session.session, user_id, onTooLarge })
    session.broadcast = broadcast
    if (session.recorded !== undefined) broadcast.packager.attach(session.recorded.receiver)
    const endThumbnails = thumbnails?.start({
      user_id,
      keyFrame: () => broadcast.packager.keyFrame(),
      keep: async jpeg => {
        if (session.recorded !== undefined) await this.#recordings?.keepThumbnail(session.recorded, jpeg)
      },
    })
    return {
      media: (message: MediaMessage) => {
        session.heardAt = performance.now()
        session.meter.note(message)
        broadcast.publish(message)
      },
      end: () => {
        channels.end(session.channel.login, broadcast)
        endThumbnails?.()
        this.#end(session)
      },
    }
  }

  #end(session: Session): void {
    this.#sessions.delete(session.session)
    this.#settleLater(this.#close(session, this.#options.clock.now()))
  }

  #settleLater(work: Promise<void>): void {
    const closing = work.finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }

  /** The recording stays open: the publisher may return. */
  async #close(ended: Session, now: number): Promise<void> {
    const { log } = this.#options
    const { user_id } = ended.channel
    if (this.#unclosed.size < MOST_UNCLOSED) this.#unclosed.set(ended, now)
    try {
      await this.#closeLate(ended)
      log.info({ user_id }, 'broadcast stopped')
      if (ended.recorded !== undefined) await this.#recordings?.endStretch(ended.recorded)
    } catch (error) {
      log.warn({ user_id, error: String(error) }, 'ending a publish session failed')
      if (!(error instanceof Unavailable || error instanceof Conflict)) this.#unclosed.delete(ended)
    }
  }

  async #closeLate(ended: Session): Promise<void> {
    const { adapter, server, session } = ended
    const now = this.#unclosed.get(ended) ?? this.#options.clock.now()
    await this.#options.store.commands.closeSession({ adapter, server, session, now })
    this.#unclosed.delete(ended)
  }
}
