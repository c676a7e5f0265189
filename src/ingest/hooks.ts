/**
 * Answers the callbacks of media servers. A publisher waits for the answer, so it comes from memory where it can: a secret
 * that is known needs no look-up. `may-publish.ts` decides about publishers. If the store does not answer within a second,
 * the session is opened afterwards.
 */

import { sha256Hex } from '../kit/crypto/digest.ts'
import { toNetwork } from '../kit/network.ts'
import { TokenBuckets, takePoint } from '../kit/queues/token-buckets.ts'
import { Outage } from '../kit/telemetry/outage.ts'
import { withTimeout } from '../kit/time/with-timeout.ts'
import type { MediaServerRow } from '../store/queries/media-servers.ts'
import type { HookRequest, HookResponse, IngestEvent, Outcome } from './adapters/adapter.ts'
import { adapters } from './adapters/index.ts'
import type { Channel, MayPublish, PublishAttempt } from './may-publish.ts'
import type { MediaServers } from './media-servers.ts'
import type { Reconciler } from './reconcile.ts'
import { MAX_SESSION_LENGTH, openPublishSession, type SessionContext, toSessionId } from './sessions.ts'
import type { ViewerSessions } from './viewer-sessions.ts'

const MAX_WAIT_MILLISECONDS = 1000
const MAX_URL_LENGTH = 2000
/** Unknown secrets from one network for which the store is read. */
const LOOKUPS = { capacity: 20, fullAfterSeconds: 60 }
/** The longest address of a publisher is that of IPv6 with a zone; more of it is neither kept nor logged. */
const MAX_ADDRESS_LENGTH = 64

export interface HooksOptions extends SessionContext {
  readonly mayPublish: MayPublish
  readonly servers: MediaServers
  readonly reconciler: Reconciler
  readonly viewers: ViewerSessions
}

/** Where a callback came from, and what it presented. */
export interface HookCaller {
  readonly adapter: string
  readonly server: string
  readonly secret: string
  readonly address: string
}

export class IngestHooks {
  readonly #options: HooksOptions
  readonly #lookups = new TokenBuckets()
  readonly #refusals = new Outage()

  constructor(options: HooksOptions) {
    this.#options = options
  }

  /** The media server that calls; undefined if the secret is wrong. */
  async findServer({ adapter, server, secret, address }: HookCaller): Promise<MediaServerRow | undefined> {
    const mayAsk = () => takePoint(this.#lookups.get(toNetwork(address), LOOKUPS))
    const found = await this.#options.servers.withSecret(adapter, server, secret, mayAsk)
    if (found === undefined) this.#logRefusal(address)
    return found
  }

  async answer(server: MediaServerRow, request: HookRequest): Promise<HookResponse> {
    const adapter = adapters[server.adapter]
    const event = adapter.read(request)
    if (event === undefined || !hasValidIds(event)) return { status: 400 }
    return adapter.respond(await this.#handle(server, event, request), request)
  }

  async #handle(server: MediaServerRow, event: IngestEvent, request: HookRequest): Promise<Outcome> {
    const { store, clock, viewers, reconciler } = this.#options
    switch (event.kind) {
      case 'publish':
        return this.#publish(server, event)
      case 'alive':
        return (await this.#isDismissed(server, event.session)) ? { kind: 'gone' } : { kind: 'noted' }
      case 'end': {
        const { session } = event
        reconciler.forgetPending(server, session)
        const now = clock.now()
        await this.#soon('the end of a publish session', () =>
          store.commands.closeSession({ ...toSessionId(server, session), now }),
        )
        return { kind: 'noted' }
      }
      case 'viewer':
        viewers.note(event.login.toLowerCase(), `${server.name}/${event.viewer}`, event.isThere)
        return { kind: 'noted' }
      case 'recorded':
        await this.#soon('a recording', () => this.#attach(server, event, request))
        return { kind: 'noted' }
      case 'other':
        return { kind: event.allowed ? 'noted' : 'refused' }
    }
  }

  async #publish(
    server: MediaServerRow,
    { session, name, address: given }: IngestEvent & { kind: 'publish' },
  ): Promise<Outcome> {
    const { mayPublish, reconciler, log } = this.#options
    const address = given.slice(0, MAX_ADDRESS_LENGTH)
    // Without an address, wrong keys of one publisher must not count against the others.
    const counted = address || `${server.name}/${session ?? sha256Hex(name)}`
    const decision = await mayPublish.decide({ name, address: counted }, channel =>
      session === undefined ? undefined : this.#attempt(server, session, channel),
    )
    if (decision.kind === 'allowed') {
      const { channel, opened } = decision
      if (session !== undefined && opened === undefined) reconciler.openLater(server, session, channel)
      return { kind: 'accepted', ...channel }
    }
    if (decision.reason === 'wrong_key')
      log.info(
        { adapter: server.adapter, server: server.name, address },
        'publisher refused: wrong stream key',
      )
    return { kind: 'refused' }
  }

  /** The first recording of a video stays: after a reconnect a media server begins another one. */
  async #attach(
    server: MediaServerRow,
    { of, file }: IngestEvent & { kind: 'recorded' },
    { recordingsUrl }: HookRequest,
  ): Promise<void> {
    const { store, clock } = this.#options
    if (typeof of === 'string')
      await store.commands.noteRecorded({ ...toSessionId(server, of), now: clock.now() })
    const url =
      recordingsUrl === undefined || file === undefined ? undefined : recordingAt(recordingsUrl, file)
    if (url === undefined) return
    const video_id = await (typeof of === 'string'
      ? store.videos.unrecordedOf(toSessionId(server, of))
      : store.videos.unrecordedAt(of.login.toLowerCase(), of.since))
    if (video_id !== undefined) await store.commands.noteRecording({ video_id, url })
  }

  #attempt(server: MediaServerRow, session: string, channel: Channel): PublishAttempt {
    const { reconciler } = this.#options
    return {
      open: () => openPublishSession(this.#options, server, session, channel),
      maxWaitMilliseconds: MAX_WAIT_MILLISECONDS,
      // The other publisher may have ended without a callback: its media server knows.
      otherMayHaveEnded: () => reconciler.lookAgain(channel),
      // A media server refuses a second publisher of a name, so the first one has to be gone before the answer.
      tookOver: () => reconciler.disconnectDismissed(),
    }
  }

  /** Waits for a short time only; if the store fails, the reconciler or the silence ends the session. */
  async #soon(what: string, write: () => Promise<unknown>): Promise<void> {
    const { log } = this.#options
    const written = write().catch(error => {
      log.warn({ error: String(error) }, `noting ${what} failed`)
    })
    await withTimeout(MAX_WAIT_MILLISECONDS, written, () => undefined)
  }

  async #isDismissed(server: MediaServerRow, session: string): Promise<boolean> {
    const { store } = this.#options
    try {
      const asked = store.mediaServers.session(toSessionId(server, session))
      const known = await withTimeout(MAX_WAIT_MILLISECONDS, asked, () => undefined)
      return known?.dismissed_at != null
    } catch {
      return false
    }
  }

  /** Summarizes repeated refusals, because anyone who reaches the listener can cause them. */
  #logRefusal(address: string): void {
    const report = this.#refusals.fail(performance.now())
    if (report === undefined) return
    const { failures } = report
    this.#options.log.warn({ address, failures }, 'a callback of a media server was refused: wrong secret')
  }
}

/** The URL of a recording. Undefined: what the configuration has is not the URL of a folder. */
function recordingAt(recordingsUrl: string, file: string): string | undefined {
  const base = URL.parse(recordingsUrl)
  if (base === null || !/^https?:$/.test(base.protocol)) return undefined
  const path = file.split('/').map(encodeURIComponent).join('/')
  const url = `${base.origin}${base.pathname.replace(/\/+$/, '')}/${path}`
  return url.length <= MAX_URL_LENGTH ? url : undefined
}

function hasValidIds(event: IngestEvent): boolean {
  if (event.kind === 'recorded') return isValidId(typeof event.of === 'string' ? event.of : event.of.login)
  if (event.kind === 'viewer') return isValidId(event.login) && isValidId(event.viewer)
  return !('session' in event) || event.session === undefined || isValidId(event.session)
}

/** Neither store keeps a zero byte. */
const isValidId = (id: string): boolean =>
  id !== '' && id.length <= MAX_SESSION_LENGTH && !id.includes('\0') && id.isWellFormed()
