/** An IPv6 customer has a whole /64; it counts as one caller. */
export function networkOf(address: string): string {
  return leading(address, 4)
}

/** The /48 of an IPv6 address: who was given one whole has 65,536 networks to call from. An IPv4 address stays as it is. */
export function siteOf(address: string): string {
  return leading(address, 3)
}

function leading(address: string, groups: number): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = ''] = address.split('%')
  const [left = '', right] = head.split('::')
  const start = left === '' ? [] : left.split(':')
  const end = right === undefined || right === '' ? [] : right.split(':')
  const full =
    right === undefined ? start : [...start, ...Array(8 - start.length - end.length).fill('0'), ...end]
  return full.slice(0, groups).join(':')
}
