import {
  HAS_SESSION,
  isRecent,
  type PlaybackSession,
  READER_ID_LENGTH,
  READER_MILLISECONDS,
  READS,
} from '../domain/playback.ts'
import { uuid } from '../kit/id.ts'
import { toNetwork, toSite } from '../kit/network.ts'
import type { Metrics } from '../kit/telemetry/metrics.ts'
import type { Clock } from '../kit/time/clock.ts'
import type { Store } from '../store/store.ts'

/** Sessions that a process counts. */
const MAX_SESSIONS = 100_000
/** Of these, those of one network, so that one address cannot pass for a crowd; a site has many networks. */
const MAX_PER_NETWORK = 20
const MAX_PER_SITE = 200

interface Heard {
  readonly user_id: string
  readonly network: string
  readonly site: string
  /** What the address and the program of the viewer hash to. */
  readonly reader: string
  at: number
}

/**
 * The viewers that this process heard of recently: playback sessions, and readers of playlists (D-259). Every few seconds it
 * writes them to the store, which counts those of all processes together. Viewers beyond a limit are not counted.
 *
 * A player that sends heartbeats reads playlists, too, perhaps from another process. So a session is reported together with
 * what its address and program hash to, and a reader with the same hash is not counted.
 */
export class Heartbeats {
  readonly #store: Store
  readonly #clock: Clock
  readonly #most: number
  /** The name of this process among those that share the store. */
  readonly #node = uuid()
  readonly #heard = new Map<string, Heard>()
  /** Sessions by network, and by site. */
  readonly #owners = new Map<string, number>()
  /** The channels of the last report. */
  #reported: ReadonlySet<string> = new Set()
  #refused = 0

  constructor({ store, clock, most = MAX_SESSIONS }: { store: Store; clock: Clock; most?: number }) {
    this.#store = store
    this.#clock = clock
    this.#most = most
  }

  /** Takes note of a heartbeat. The address of the first one counts. */
  beat({ id, user_id, watches }: PlaybackSession, address: string, program = ''): void {
    if (watches !== 'live' || this.#isKnown(id)) return
    this.#hear(id, user_id, address, readerId(user_id, address, program))
  }

  /** Takes note of a request for the playlist of a channel. */
  read(user_id: string, address: string, program: string): void {
    const reader = readerId(user_id, address, program)
    if (!this.#isKnown(READS + reader)) this.#hear(READS + reader, user_id, address, reader)
  }

  /** Whether it is counted already: then it is for some time more. */
  #isKnown(id: string): boolean {
    const known = this.#heard.get(id)
    if (known !== undefined) known.at = this.#clock.now()
    return known !== undefined
  }

  #hear(id: string, user_id: string, address: string, reader: string): void {
    const [network, site] = [toNetwork(address), `site ${toSite(address)}`]
    const isFull =
      this.#heard.size >= this.#most ||
      this.#countViewers(network) >= MAX_PER_NETWORK ||
      this.#countViewers(site) >= MAX_PER_SITE
    if (isFull) {
      this.#refused += 1
      return
    }
    this.#heard.set(id, { user_id, network, site, reader, at: this.#clock.now() })
    this.#owners.set(network, this.#countViewers(network) + 1)
    this.#owners.set(site, this.#countViewers(site) + 1)
  }

  /** Reports the sessions by channel. Called every few seconds. */
  async report(): Promise<void> {
    const now = this.#clock.now()
    this.#forgetLapsed(now)
    const lists = new Map<string, string>()
    for (const user_id of this.#reported) lists.set(user_id, '')
    for (const [id, { user_id, reader }] of this.#heard) {
      const entry = id.startsWith(READS) ? id : `${id}${HAS_SESSION}${reader}`
      lists.set(user_id, (lists.get(user_id) ?? '') + entry)
    }
    // A read first: most of the time there is nothing to write.
    if (lists.size === 0 && !(await this.#store.streams.hasLapsedViewers(now))) return
    const channels = Array.from(lists, ([user_id, sessions]) => ({ user_id, sessions }))
    await this.#store.commands.reportPlayback({ node: this.#node, channels, now })
    this.#reported = new Set(channels.flatMap(({ user_id, sessions }) => (sessions === '' ? [] : [user_id])))
  }

  measure(metrics: Metrics): void {
    metrics.gauge('strand_playback_sessions', 'Playback sessions with a recent heartbeat.', this.#heard.size)
    metrics.counter(
      'strand_playback_sessions_refused_total',
      'Heartbeats of playback sessions that were not counted because of a limit.',
      this.#refused,
    )
  }

  #forgetLapsed(now: number): void {
    for (const [id, { at, network, site }] of this.#heard) {
      const isReading = id.startsWith(READS) && Math.abs(now - at) < READER_MILLISECONDS
      if (isReading || (!id.startsWith(READS) && isRecent(at, now))) continue
      this.#heard.delete(id)
      for (const owner of [network, site]) {
        const count = this.#countViewers(owner) - 1
        if (count > 0) this.#owners.set(owner, count)
        else this.#owners.delete(owner)
      }
    }
  }

  #countViewers(owner: string): number {
    return this.#owners.get(owner) ?? 0
  }
}

/** The same in every process. */
function readerId(user_id: string, address: string, program: string): string {
  const source = JSON.stringify([user_id, address, program])
  return new Bun.CryptoHasher('sha256').update(source).digest('base64url').slice(0, READER_ID_LENGTH)
}
