import { isIPv6 } from 'node:net'
import { ipv4Value } from '../kit/network.ts'
import type { Networks } from '../kit/networks.ts'
import type { Log } from '../kit/telemetry/log.ts'

/**
 * The address that a request came from. Only the part of `X-Forwarded-For` written by trusted proxies counts: the result
 * is the first address from the right that is not a trusted proxy.
 */
export function clientAddress(peer: string, forwarded: string | null, trusted: Networks): string {
  if (forwarded === null || !trusted.has(peer)) return peer
  let rest = forwarded
  for (;;) {
    const comma = rest.lastIndexOf(',')
    const hop = rest.slice(comma + 1).trim()
    if (ipv4Value(hop) === undefined && !isIPv6(hop)) return peer
    if (!trusted.has(hop)) return hop
    if (comma < 0) return peer
    rest = rest.slice(0, comma)
  }
}

const WARNING_MILLISECONDS = 10 * 60_000

/**
 * The addresses of clients behind proxies. A proxy that no setting names is noticed: all of its clients count as one address,
 * and share its limits.
 */
export class ForwardedAddresses {
  readonly #trusted: Networks
  readonly #log: Log
  #unnamed: string | undefined
  #warnedAt = Number.NEGATIVE_INFINITY

  constructor(trusted: Networks, log: Log) {
    this.#trusted = trusted
    this.#log = log
  }

  /** The address of a proxy that no setting names, if there was one. */
  get unnamed(): string | undefined {
    return this.#unnamed
  }

  read(peer: string, forwarded: string | null): string {
    if (forwarded !== null && peer !== '' && !this.#trusted.has(peer)) this.#notice(peer)
    return clientAddress(peer, forwarded, this.#trusted)
  }

  #notice(peer: string): void {
    this.#unnamed = peer
    const now = performance.now()
    if (now - this.#warnedAt < WARNING_MILLISECONDS) return
    this.#warnedAt = now
    this.#log.warn(
      { peer },
      'a request with X-Forwarded-For came from an address that STRAND_TRUSTED_PROXIES does not name: if it is your proxy, add it; until then all of its clients share the limits of one address',
    )
  }
}
