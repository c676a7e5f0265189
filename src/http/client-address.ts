import { BlockList, isIP } from 'node:net'

/** Reads `10.0.0.0/8` and single addresses; returns undefined if one is neither. */
export function readNetworks(entries: readonly string[]): BlockList | undefined {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/')
    const version = isIP(address)
    if (version === 0) return undefined
    const type = version === 6 ? 'ipv6' : 'ipv4'
    const bits = prefix === undefined ? (version === 6 ? 128 : 32) : Number(prefix)
    if (!Number.isInteger(bits) || bits < 0 || bits > (version === 6 ? 128 : 32)) return undefined
    list.addSubnet(address, bits, type)
  }
  return list
}

/**
 * The address that a request came from. `X-Forwarded-For` is believed only as far as trusted proxies wrote it: from the
 * right, the first address that is not one of theirs.
 */
export function clientAddress(peer: string, forwarded: string | null, trusted: BlockList): string {
  if (forwarded === null || !isTrusted(trusted, peer)) return peer
  const hops = forwarded.split(',').map(hop => hop.trim())
  for (const hop of hops.reverse()) {
    if (isIP(hop) === 0) return peer
    if (!isTrusted(trusted, hop)) return hop
  }
  return peer
}

function isTrusted(list: BlockList, address: string): boolean {
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address
  return list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4')
}
