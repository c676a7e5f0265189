import { BlockList, isIP, isIPv6 } from 'node:net'
import { ipv4Value } from '../kit/network.ts'
import type { Log } from '../kit/telemetry/log.ts'

/**
 * A set of networks. Behind a proxy each request looks up two addresses, so IPv4 addresses are compared as numbers, which
 * is several times faster than `BlockList`.
 */
export class Networks {
  readonly #list = new BlockList()
  readonly #ipv4: { readonly first: number; readonly last: number }[] = []

  get isEmpty(): boolean {
    return this.#list.rules.length === 0
  }

  add(address: string, bits: number): void {
    this.#list.addSubnet(address, bits, isIPv6(address) ? 'ipv6' : 'ipv4')
    const value = ipv4Value(address)
    if (value === undefined) return
    const size = 2 ** (32 - bits)
    const first = value - (value % size)
    this.#ipv4.push({ first, last: first + size - 1 })
  }

  has(address: string): boolean {
    const plain = address.startsWith('::ffff:') ? address.slice(7) : address
    const value = ipv4Value(plain)
    if (value === undefined) return isIPv6(plain) && this.#list.check(plain, 'ipv6')
    for (const { first, last } of this.#ipv4) if (first <= value && value <= last) return true
    return false
  }
}

/** Parses networks such as `10.0.0.0/8` and single addresses; returns undefined if an entry is neither. */
export function readNetworks(entries: readonly string[]): Networks | undefined {
  const networks = new Networks()
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/')
    const version = isIP(address)
    if (version === 0) return undefined
    const maxBits = version === 6 ? 128 : 32
    const bits = prefix === undefined ? maxBits : Number(prefix)
    if (!Number.isInteger(bits) || bits < 0 || bits > maxBits) return undefined
    networks.add(address, bits)
  }
  return networks
}

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
