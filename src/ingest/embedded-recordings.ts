/**
 * The recordings of the broadcasts that this node receives, and what the store knows of them. A recording belongs to a stream,
 * which may have several publish sessions: it stays open until the stream has ended, and then its sessions are recorded.
 */
import type { Log } from '../kit/telemetry/log.ts'
import type { Clock } from '../kit/time/clock.ts'
import type { Recording } from '../media/recording/recording.ts'
import { RecordingReceiver } from '../media/recording/recording-receiver.ts'
import type { Recordings } from '../media/recording/recordings.ts'
import type { SessionId } from '../store/queries/media-servers.ts'
import type { Store } from '../store/store.ts'

const CLOSE_AGAIN_MILLISECONDS = 5000

/** The recording of a session. */
export interface Recorded {
  readonly video_id: string
  readonly receiver: RecordingReceiver
}

interface Options {
  readonly recordings: Recordings
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  /** Where viewers find this node, if others may be asked for its broadcasts. */
  readonly watchUrl: string | null
}

export class EmbeddedRecordings {
  readonly #options: Options
  /** The sessions of each video whose recording is not complete. */
  readonly #sessions = new Map<string, SessionId[]>()
  /** Recordings that are being closed, or could not be a short time ago. */
  readonly #closing = new Map<string, Promise<void> | undefined>()

  constructor(options: Options) {
    this.#options = options
  }

  /** Starts or continues a recording, on the clock of the stream: a marker then has the same position in both. */
  record(
    { video_id, started_at }: { readonly video_id: string; readonly started_at: string },
    session: SessionId,
    user_id: string,
  ): Recorded {
    const { recordings, clock, log } = this.#options
    this.#noteSession(video_id, session)
    const start = Date.parse(started_at)
    const receiver = new RecordingReceiver(() => clock.now() - start)
    const open = async () => {
      const recording = await recordings.record(video_id, {
        onPause: reason => log.warn({ user_id, video_id, reason }, 'recording stopped'),
        onResume: () => log.info({ user_id, video_id }, 'recording resumed'),
      })
      receiver.begin(recording)
      await recording.started
      await this.#note(video_id, true)
    }
    void open().catch(error => log.warn({ user_id, video_id, error: String(error) }, 'recording failed'))
    return { video_id, receiver }
  }

  /** The publisher has left. Other nodes, to which it may move, list what it has sent here. */
  async endStretch({ video_id, receiver }: Recorded): Promise<void> {
    const { recording } = receiver
    await recording?.endStretch()
    if (recording?.milliseconds !== undefined) await this.#note(video_id, false)
  }

  async keepThumbnail({ video_id, receiver }: Recorded, jpeg: Uint8Array): Promise<void> {
    if (receiver.recording?.isDiscarded === false)
      await this.#options.recordings.keepThumbnail(video_id, jpeg)
  }

  /** Opens the recording of a session from before a restart. Undefined: it has none. */
  async reopen(video_id: string, session: SessionId): Promise<Recording | undefined> {
    const { recordings, log } = this.#options
    try {
      const recording = await recordings.reopen(video_id)
      if (recording === undefined) return undefined
      this.#noteSession(video_id, session)
      await recording.endStretch()
    } catch (error) {
      log.warn({ video_id, error: String(error) }, 'opening an interrupted recording failed')
      return undefined
    }
    await this.#note(video_id, false)
    return recordings.find(video_id)
  }

  async reopenInterrupted(): Promise<void> {
    const { recordings, store, log } = this.#options
    try {
      await recordings.reopenInterrupted(async id => (await store.streams.runningVideos([id])).has(id))
    } catch (error) {
      log.warn({ error: String(error) }, 'opening interrupted recordings failed')
    }
  }

  /** Closes the recordings whose streams have ended. */
  async closeEnded(published: ReadonlySet<string | undefined>): Promise<void> {
    const { recordings, store } = this.#options
    const idle = recordings.openIds.filter(id => !published.has(id) && !this.#closing.has(id))
    if (idle.length === 0) return
    const running = await store.streams.runningVideos(idle)
    for (const id of idle) if (!running.has(id)) void this.#close(id)
  }

  /** Resolves when all recordings are on disk. */
  async closeAll(): Promise<void> {
    await Promise.all(this.#closing.values())
    await Promise.all(this.#options.recordings.openIds.map(id => this.#close(id)))
  }

  #close(video_id: string): Promise<void> {
    const closing = this.#tryToClose(video_id)
    this.#closing.set(video_id, closing)
    return closing
  }

  async #tryToClose(video_id: string): Promise<void> {
    const { store, clock, log, recordings } = this.#options
    try {
      const isKept = await recordings.close(video_id)
      // The store may not have answered when the recording began.
      if (isKept) await this.#note(video_id, false)
      for (const id of this.#sessions.get(video_id) ?? [])
        await store.commands.noteRecorded({ ...id, now: clock.now() })
      this.#sessions.delete(video_id)
    } catch (error) {
      log.warn({ video_id, error: String(error) }, 'closing a recording failed; trying again')
      setTimeout(() => this.#closing.delete(video_id), CLOSE_AGAIN_MILLISECONDS).unref()
      return
    }
    this.#closing.delete(video_id)
  }

  /** Notes that this node has a recording, and unless a publisher has just come, what it has. */
  async #note(video_id: string, isPublished: boolean): Promise<void> {
    const { store, watchUrl, recordings, clock } = this.#options
    const folder = await recordings.folderId()
    if (folder === undefined) return
    const { text } = (!isPublished && (await recordings.playlist(video_id))) || {}
    const playlist = (await text?.text()) ?? null
    const file = { video_id, folder, url: watchUrl ?? '', playlist }
    await store.commands.noteRecordingFile({ ...file, isPublished, now: clock.now() })
  }

  #noteSession(video_id: string, { adapter, server, session }: SessionId): void {
    const known = this.#sessions.get(video_id) ?? []
    if (known.some(each => each.session === session)) return
    this.#sessions.set(video_id, [...known, { adapter, server, session }])
  }
}
