/**
 * Addresses, grouped by who is likely to hold them. Two spellings of one address have one name here, so that a caller
 * cannot count as two.
 */

/** Who counts as one caller: an IPv4 address, or the /64 that an IPv6 customer has at the least. */
export function networkOf(address: string): string {
  return prefixOf(address, 4, 4)
}

/** The /48 of an IPv6 address: a customer with a whole one has 65,536 networks. An IPv4 address stays as it is. */
export function siteOf(address: string): string {
  return prefixOf(address, 3, 4)
}

/** The networks around an address, likely in one hand: the /24 of an IPv4 address, the /48 of an IPv6 address. */
export function widerNetworkOf(address: string): string {
  return prefixOf(address, 3, 3)
}

/** The first groups of an IPv6 address, of eight, or the first bytes of an IPv4 address, of four. */
function prefixOf(address: string, groups: number, bytes: number): string {
  if (!address.includes(':')) return address.split('.').slice(0, bytes).join('.')
  const full = groupsOf(address)
  return isMapped(full)
    ? full.slice(6).flatMap(bytesOf).slice(0, bytes).join('.')
    : full.slice(0, groups).join(':')
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): string[] {
  const [head = ''] = address.toLowerCase().split('%')
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(head)
  const text =
    dotted === null ? head : `${dotted[1]}${pair(dotted[2], dotted[3])}:${pair(dotted[4], dotted[5])}`
  const [left = '', right] = text.split('::')
  const start = left === '' ? [] : left.split(':')
  const end = right === undefined || right === '' ? [] : right.split(':')
  const missing = right === undefined ? 0 : Math.max(0, 8 - start.length - end.length)
  return [...start, ...Array<string>(missing).fill('0'), ...end].map(group => group.replace(/^0+(?=.)/, ''))
}

const pair = (high = '0', low = '0') => (Number(high) * 256 + Number(low)).toString(16)

/** An IPv4 address in the form of an IPv6 one, as a listener for both sees it. */
function isMapped(groups: readonly string[]): boolean {
  return groups.length === 8 && groups[5] === 'ffff' && groups.slice(0, 5).every(group => group === '0')
}

function bytesOf(group: string): number[] {
  const value = Number.parseInt(group, 16)
  return [value >> 8, value & 255]
}
