/** An IPv6 customer has a whole /64; it counts as one caller. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = ''] = address.split('%')
  const [left = '', right] = head.split('::')
  const start = left === '' ? [] : left.split(':')
  const end = right === undefined || right === '' ? [] : right.split(':')
  const full =
    right === undefined ? start : [...start, ...Array(8 - start.length - end.length).fill('0'), ...end]
  return full.slice(0, 4).join(':')
}
