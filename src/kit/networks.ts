import { BlockList, isIP, isIPv6 } from 'node:net'
import { ipv4Value } from './network.ts'

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
