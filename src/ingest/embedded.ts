/** The embedded media server as a source of publish sessions. */
import { isRefusal } from '../contract/problem.ts'
import { lastHeard } from '../domain/publish-session.ts'
import type { Clock } from '../kit/clock.ts'
import { decimalId, uuid } from '../kit/id.ts'
import { inTime } from '../kit/in-time.ts'
import type { Log } from '../kit/log.ts'
import type { LiveChannels } from '../media/live-channels.ts'
import type { Recording } from '../media/recording.ts'
import type { Recordings } from '../media/recordings.ts'
import type { MediaMessage } from '../media/rtmp/publisher.ts'
import type { Ingest, PublishGrant } from '../media/rtmp-server.ts'
import type { Thumbnails } from '../media/thumbnails.ts'
import type { OpenedSession } from '../store/commands/publish-sessions.ts'
import type { SessionId } from '../store/queries/media-servers.ts'
import type { Store } from '../store/store.ts'
import type { Channel, KeyCheck } from './key-check.ts'

const ADAPTER = 'embedded'
export const REPORT_MILLISECONDS = 5000
/** A publisher that sent nothing since the last report is not reported as alive. */
const QUIET_MILLISECONDS = REPORT_MILLISECONDS
/** A publisher does not wait longer for its recording: what it sends is kept until the file is open. */
const OPEN_MILLISECONDS = 500

interface EmbeddedOptions {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly keys: KeyCheck
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
  readonly channel: Channel
  readonly close: () => void
  isClosed: boolean
  heardAt: number
}

/** The recording of a session. */
interface Recorded {
  readonly video_id: string
  readonly recording: Recording
}

export class EmbeddedIngest implements Ingest {
  readonly #options: EmbeddedOptions
  readonly #sessions = new Map<string, Session>()
  readonly #closing = new Set<Promise<void>>()

  constructor(options: EmbeddedOptions) {
    this.#options = options
  }

  /**
   * Ends the sessions that this node had before it was restarted, so that their publishers can return at once. A session was
   * last heard when it was reported as alive, or when its recording ends; recordings get their index afterwards.
   */
  async forgetPast(): Promise<void> {
    const { store, clock, node, recordings } = this.#options
    for (const past of await store.mediaServers.unrecordedSessionsOf(ADAPTER, node)) {
      const id = { adapter: ADAPTER, server: node, session: past.session }
      const recorded =
        past.video_id === null ? undefined : await recordings?.lastMillisecondsOf(past.video_id)
      const now = lastHeard(past, recorded, clock.now())
      await store.commands.closeSession({ ...id, now })
      if (recorded !== undefined) this.#settleLater(this.#repair(id, past.video_id ?? ''))
    }
  }

  async authorize(
    request: { readonly name: string; readonly address: string },
    close: () => void,
  ): Promise<PublishGrant | undefined> {
    const { keys, store, clock, node, watchUrl, log } = this.#options
    const channel = await keys.channelOf(request.name, request.address)
    if (channel === undefined) {
      log.info({ address: request.address }, 'publisher refused: wrong stream key')
      return undefined
    }
    const id = { adapter: ADAPTER, server: node, session: uuid() }
    // By a clock that was moved, a publisher of this channel may seem silent.
    if (this.#has(channel)) await this.report()
    const now = clock.now()
    const [stream_id, video_id] = [decimalId(now), decimalId(now)]
    const ids = { user_id: channel.user_id, stream_id, video_id, watch_url: watchUrl, now }
    const opened = await store.commands.openSession({ ...id, ...ids })
    if (isRefusal(opened)) {
      log.info({ user_id: channel.user_id, reason: opened.problem }, 'publisher refused')
      return undefined
    }
    if (opened.replaced?.server === node) this.#disconnect(opened.replaced.session)
    log.info({ user_id: channel.user_id, stream_id: opened.stream_id }, 'broadcast started')
    const session = { ...id, channel, close, isClosed: false, heardAt: performance.now() }
    this.#sessions.set(id.session, session)
    const recorded = await this.#record(opened, channel)
    if (!session.isClosed) return this.#start(session, recorded)
    // Another publisher took over meanwhile.
    this.#end(session, recorded)
    return undefined
  }

  /** Reports which sessions are alive, and how many people watch them. Called every few seconds. */
  async report(): Promise<void> {
    const { store, clock, node, channels } = this.#options
    const now = performance.now()
    const alive = [...this.#sessions.values()].filter(({ heardAt }) => now - heardAt < QUIET_MILLISECONDS)
    if (alive.length === 0) return
    const sessions = alive.map(({ session }) => session)
    await store.commands.keepSessionsAlive({ adapter: ADAPTER, server: node, sessions, now: clock.now() })
    const viewers = channels.viewerCounts()
    const counts = alive.map(({ channel }) => [channel.user_id, viewers.get(channel.login) ?? 0] as const)
    await store.commands.reportViewers({ counts })
  }

  /**
   * Disconnects publishers whose sessions the store has ended: an operator or another node did that, or the store heard
   * nothing of them for too long. Called every second.
   */
  async disconnectEnded(): Promise<void> {
    const { store, node } = this.#options
    const running = [...this.#sessions.values()]
    if (running.length === 0) return
    const known = await store.mediaServers.sessionsOf(ADAPTER, node)
    const live = new Set(known.filter(({ ended_at }) => ended_at === null).map(({ session }) => session))
    for (const { session } of running) if (!live.has(session)) this.#disconnect(session)
  }

  /** Resolves when the store knows of all sessions that ended. */
  async settle(): Promise<void> {
    await Promise.all(this.#closing)
  }

  #has({ user_id }: Channel): boolean {
    return this.#sessions.values().some(({ channel }) => channel.user_id === user_id)
  }

  #disconnect(session: string): void {
    const known = this.#sessions.get(session)
    if (known === undefined) return
    known.isClosed = true
    known.close()
  }

  /** On the clock of the stream, so that the positions of markers are those of the recording. */
  async #record(
    { video_id, started_at }: OpenedSession,
    { user_id }: Channel,
  ): Promise<Recorded | undefined> {
    const { recordings, store, clock, log, watchUrl } = this.#options
    if (recordings === undefined || video_id === null) return undefined
    const start = Date.parse(started_at)
    const onStop = (reason: string) => log.warn({ user_id, video_id, reason }, 'recording stopped')
    const recording = recordings.record(video_id, { positionNow: () => clock.now() - start, onStop })
    const note = async () => {
      if (await recording.opened) await store.commands.noteRecording({ video_id, url: watchUrl ?? '' })
    }
    const noted = note().catch(error =>
      log.warn({ user_id, video_id, error: String(error) }, 'noting a recording failed'),
    )
    await inTime(OPEN_MILLISECONDS, noted, () => undefined)
    return { video_id, recording }
  }

  #start(session: Session, recorded: Recorded | undefined): PublishGrant {
    const { channels, recordings, thumbnails } = this.#options
    const { login, user_id } = session.channel
    const broadcast = channels.start(login)
    const endThumbnails = thumbnails?.start({
      user_id,
      keyFrame: () => broadcast.keyFrame(),
      ...(recorded && { keep: async jpeg => recordings?.keepThumbnail(recorded.video_id, jpeg) }),
    })
    return {
      media: (message: MediaMessage) => {
        session.heardAt = performance.now()
        broadcast.publish(message)
        recorded?.recording.write(message)
      },
      end: () => {
        channels.end(login, broadcast)
        endThumbnails?.()
        this.#end(session, recorded)
      },
    }
  }

  #end(session: Session, recorded: Recorded | undefined): void {
    this.#sessions.delete(session.session)
    this.#settleLater(this.#close(session, recorded, this.#options.clock.now()))
  }

  #settleLater(work: Promise<void>): void {
    const closing = work.finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }

  /** The session first: its publisher may return while the disk is busy. If that fails, it ends because it is silent. */
  async #close(
    { adapter, server, session, channel }: Session,
    recorded: Recorded | undefined,
    now: number,
  ): Promise<void> {
    const { store, log, recordings } = this.#options
    const { user_id } = channel
    const id = { adapter, server, session }
    try {
      await store.commands.closeSession({ ...id, now })
      log.info({ user_id }, 'broadcast stopped')
    } catch (error) {
      log.warn({ user_id, error: String(error) }, 'ending a publish session failed')
    }
    if (recorded === undefined) return
    const { video_id, recording } = recorded
    await this.#noteRecorded(id, video_id, async () => recordings?.close(video_id, recording))
  }

  async #repair(id: SessionId, video_id: string): Promise<void> {
    await this.#noteRecorded(id, video_id, async () => this.#options.recordings?.repair(video_id))
  }

  async #noteRecorded(id: SessionId, video_id: string, close: () => Promise<void>): Promise<void> {
    const { store, clock, log } = this.#options
    try {
      await close()
      await store.commands.noteRecorded({ ...id, now: clock.now() })
    } catch (error) {
      log.warn({ video_id, error: String(error) }, 'closing a recording failed')
    }
  }
}
