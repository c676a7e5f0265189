/**
 * Groups addresses by their likely owner. Different spellings of one address give the same result, so that a caller cannot
 * count as two.
 */

/** What counts as one caller: an IPv4 address, or a /64, the smallest network of an IPv6 customer. */
export function toNetwork(address: string): string {
  return addressPrefix(address, 4, 4)
}

/** The /48 of an IPv6 address: a customer with a /48 has 65,536 networks. An IPv4 address is returned unchanged. */
export function toSite(address: string): string {
  return addressPrefix(address, 3, 4)
}

/** A wider network that likely has one owner: the /24 of an IPv4 address, the /48 of an IPv6 address. */
export function toWiderNetwork(address: string): string {
  return addressPrefix(address, 3, 3)
}

/** The 32-bit value of an IPv4 address in dotted decimal; undefined for any other text. */
export function ipv4Value(text: string): number | undefined {
  let value = 0
  let dots = 0
  let byte = -1
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === DOT) {
      if (byte < 0) return undefined
      value = value * 256 + byte
      dots += 1
      byte = -1
      continue
    }
    const digit = code - ZERO
    // A leading zero means octal to some programs.
    if (digit < 0 || digit > 9 || byte === 0) return undefined
    byte = byte < 0 ? digit : byte * 10 + digit
    if (byte > 255) return undefined
  }
  return dots === 3 && byte >= 0 ? value * 256 + byte : undefined
}

const DOT = 46
const ZERO = 48

/** The first groups (of eight) of an IPv6 address, or the first bytes (of four) of an IPv4 address. */
function addressPrefix(address: string, groups: number, bytes: number): string {
  if (!address.includes(':')) return bytes === 4 ? address : address.split('.').slice(0, bytes).join('.')
  const full = splitGroups(address)
  return isMapped(full)
    ? full.slice(6).flatMap(groupBytes).slice(0, bytes).join('.')
    : full.slice(0, groups).join(':')
}

/** The eight groups of an IPv6 address, without leading zeros. */
function splitGroups(address: string): string[] {
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

/** An IPv4-mapped IPv6 address, as a dual-stack listener reports it. */
function isMapped(groups: readonly string[]): boolean {
  return groups.length === 8 && groups[5] === 'ffff' && groups.slice(0, 5).every(group => group === '0')
}

function groupBytes(group: string): number[] {
  const value = Number.parseInt(group, 16)
  return [value >> 8, value & 255]
}
