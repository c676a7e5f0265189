/** The embedded media server as a source of publish sessions. */
import { isRefusal } from '../contract/problem.ts'
import type { Clock } from '../kit/clock.ts'
import { decimalId, uuid } from '../kit/id.ts'
import type { Log } from '../kit/log.ts'
import type { LiveChannels } from '../media/live-channels.ts'
import type { OpenRecording, Recordings } from '../media/recordings.ts'
import type { MediaMessage } from '../media/rtmp/publisher.ts'
import type { Ingest, PublishGrant } from '../media/rtmp-server.ts'
import type { Thumbnails } from '../media/thumbnails.ts'
import type { OpenedSession } from '../store/commands/publish-sessions.ts'
import type { SessionId } from '../store/queries/media-servers.ts'
import type { Store } from '../store/store.ts'
import type { Channel, KeyCheck } from './key-check.ts'

const ADAPTER = 'embedded'
/** A publisher that sent nothing for so long is not reported as alive. */
const QUIET_MILLISECONDS = 10_000

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
  heardAt: number
}

export class EmbeddedIngest implements Ingest {
  readonly #options: EmbeddedOptions
  readonly #sessions = new Map<string, Session>()
  readonly #closing = new Set<Promise<void>>()

  constructor(options: EmbeddedOptions) {
    this.#options = options
  }

  /** Ends the sessions that this node had before it was restarted, so that their publishers can return at once. */
  async forgetPast(): Promise<void> {
    const { store, node } = this.#options
    await store.commands.closeOtherSessions({ adapter: ADAPTER, server: node, sessions: [] })
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
    const now = clock.now()
    const [stream_id, video_id] = [decimalId(now), decimalId(now)]
    const ids = { user_id: channel.user_id, stream_id, video_id, watch_url: watchUrl, now }
    const opened = await store.commands.openSession({ ...id, ...ids })
    if (isRefusal(opened)) {
      log.info({ user_id: channel.user_id, reason: opened.problem }, 'publisher refused')
      return undefined
    }
    if (opened.replaced?.server === node) this.#sessions.get(opened.replaced.session)?.close()
    log.info({ user_id: channel.user_id, stream_id: opened.stream_id }, 'broadcast started')
    const recording = await this.#record(opened, channel)
    return this.#start({ ...id, channel, close, heardAt: performance.now() }, recording)
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
    for (const { session, close } of running) if (!live.has(session)) close()
  }

  /** Resolves when the store knows of all sessions that ended. */
  async settle(): Promise<void> {
    await Promise.all(this.#closing)
  }

  /** On the clock of the stream, so that the positions of markers are those of the recording. */
  async #record(
    { video_id, started_at }: OpenedSession,
    { user_id }: Channel,
  ): Promise<OpenRecording | undefined> {
    const { recordings, store, clock, log, watchUrl } = this.#options
    if (recordings === undefined || video_id === null) return undefined
    const stopped = (reason: string) => log.warn({ user_id, video_id, reason }, 'recording stopped')
    try {
      await store.commands.noteRecording({ video_id, url: watchUrl ?? '' })
      return await recordings.record(video_id, clock.now() - Date.parse(started_at), stopped)
    } catch (error) {
      stopped(String(error))
      return undefined
    }
  }

  #start(session: Session, recording: OpenRecording | undefined): PublishGrant {
    const { channels, thumbnails } = this.#options
    const { login, user_id } = session.channel
    const broadcast = channels.start(login)
    const endThumbnails = thumbnails?.start({
      user_id,
      keyFrame: () => broadcast.keyFrame(),
      ...(recording && { keep: jpeg => recording.keepThumbnail(jpeg) }),
    })
    this.#sessions.set(session.session, session)
    return {
      media: (message: MediaMessage) => {
        session.heardAt = performance.now()
        broadcast.publish(message)
        recording?.write(message)
      },
      end: () => {
        this.#sessions.delete(session.session)
        channels.end(login, broadcast)
        endThumbnails?.()
        const closing = this.#close(session, recording).finally(() => this.#closing.delete(closing))
        this.#closing.add(closing)
      },
    }
  }

  /** If this fails, the session ends because it is silent. */
  async #close(
    { adapter, server, session, channel }: Session,
    recording: OpenRecording | undefined,
  ): Promise<void> {
    const { store, clock, log } = this.#options
    try {
      await recording?.close()
    } catch (error) {
      log.warn({ user_id: channel.user_id, error: String(error) }, 'closing a recording failed')
    }
    try {
      await store.commands.closeSession({ adapter, server, session, now: clock.now() })
      log.info({ user_id: channel.user_id }, 'broadcast stopped')
    } catch (error) {
      log.warn({ user_id: channel.user_id, error: String(error) }, 'ending a publish session failed')
    }
  }
}
