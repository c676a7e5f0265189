/** Compares canonical decimal ids as numbers. */
export function compareDecimal(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}
