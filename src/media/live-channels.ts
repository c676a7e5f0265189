import { NetworkShares } from '../kit/queues/network-shares.ts'
import type { Metrics } from '../kit/telemetry/metrics.ts'
import { Broadcast } from './broadcast.ts'
import { HttpViewer } from './viewer.ts'

/** Maximum viewers of this process, over all channels. */
const MAX_VIEWERS = 5000

/** The broadcasts of this process, by the login of the channel. */
export class LiveChannels {
  readonly #broadcasts = new Map<string, Broadcast>()
  readonly #totals = { bytes: 0, skips: 0 }
  readonly #places = new NetworkShares(MAX_VIEWERS)

  /** Starts a broadcast, and ends the previous one of the channel. */
  start(login: string): Broadcast {
    this.#broadcasts.get(login)?.end()
    const broadcast = new Broadcast(this.#totals)
    this.#broadcasts.set(login, broadcast)
    return broadcast
  }

  /** The channel of a broadcast has another login. */
  rename(login: string, broadcast: Broadcast, next: string): void {
    if (this.#broadcasts.get(login) === broadcast) this.#broadcasts.delete(login)
    if (this.#broadcasts.get(next) !== broadcast) this.#broadcasts.get(next)?.end()
    this.#broadcasts.set(next, broadcast)
  }

  end(login: string, broadcast: Broadcast): void {
    if (this.#broadcasts.get(login) === broadcast) this.#broadcasts.delete(login)
    broadcast.end()
  }

  /** Ends all broadcasts and with them the responses to viewers. */
  endAll(): void {
    for (const broadcast of this.#broadcasts.values()) broadcast.end()
    this.#broadcasts.clear()
  }

  measure(metrics: Metrics): void {
    metrics.gauge('strand_media_broadcasts', 'Broadcasts that this process receives.', this.#broadcasts.size)
    metrics.gauge('strand_media_viewers', 'Viewers that this process serves.', this.#places.taken)
    metrics.counter(
      'strand_media_received_bytes_total',
      'Bytes of audio and video received.',
      this.#totals.bytes,
    )
    metrics.counter(
      'strand_media_skips_total',
      'Times that a slow viewer was skipped forward.',
      this.#totals.skips,
    )
  }

  has(login: string): boolean {
    return this.#broadcasts.has(login)
  }

  viewerCounts(): Map<string, number> {
    return new Map([...this.#broadcasts].map(([login, broadcast]) => [login, broadcast.viewerCount]))
  }

  /** The broadcast of a channel as FLV, from now on. Undefined: it is not live here. */
  watch(login: string, address: string): ReadableStream<Uint8Array> | 'full' | undefined {
    const broadcast = this.#broadcasts.get(login)
    if (broadcast === undefined) return undefined
    const leave = this.#places.take(address)
    if (leave === undefined) return 'full'
    const viewer = new HttpViewer(() => {
      broadcast.leave(viewer)
      leave()
    })
    broadcast.join(viewer)
    return viewer.stream
  }
}
