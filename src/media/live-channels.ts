import type { Metrics } from '../kit/metrics.ts'
import { networkOf, siteOf } from '../kit/network.ts'
import { Broadcast } from './broadcast.ts'
import { HttpViewer } from './viewer.ts'

/** Maximum viewers of this process, over all channels. */
const MAX_VIEWERS = 5000
/** Of these, those of one network, so that one address cannot keep out the others; a site has many networks. */
const MAX_PER_NETWORK = 1000
const MAX_PER_SITE = 2000
/** Programs on this machine, or a proxy that the settings do not name. */
const LOOPBACK = /^(?:127\.|::1$)/

/** The broadcasts of this process, by the login of the channel. */
export class LiveChannels {
  readonly #broadcasts = new Map<string, Broadcast>()
  readonly #totals = { bytes: 0, skips: 0 }
  #viewers = 0
  /** Viewers by network, and by site. */
  readonly #owners = new Map<string, number>()

  /** Starts a broadcast, and ends the previous one of the channel. */
  start(login: string): Broadcast {
    this.#broadcasts.get(login)?.end()
    const broadcast = new Broadcast(this.#totals)
    this.#broadcasts.set(login, broadcast)
    return broadcast
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
    metrics.gauge('strand_media_viewers', 'Viewers that this process serves.', this.#viewers)
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
    const [network, site] = [networkOf(address), `site ${siteOf(address)}`]
    const isOverShare = this.#countOf(network) >= MAX_PER_NETWORK || this.#countOf(site) >= MAX_PER_SITE
    if (this.#viewers >= MAX_VIEWERS || (isOverShare && !LOOPBACK.test(address))) return 'full'
    this.#count([network, site], 1)
    const viewer = new HttpViewer(() => {
      broadcast.leave(viewer)
      this.#count([network, site], -1)
    })
    broadcast.join(viewer)
    return viewer.stream
  }

  #countOf(owner: string): number {
    return this.#owners.get(owner) ?? 0
  }

  #count(owners: readonly string[], by: 1 | -1): void {
    this.#viewers += by
    for (const owner of owners) {
      const count = this.#countOf(owner) + by
      if (count > 0) this.#owners.set(owner, count)
      else this.#owners.delete(owner)
    }
  }
}
