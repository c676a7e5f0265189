const RANGE = 2 ** 32

/**
 * A random number in [low, high), without bias; both are at most 2^32. The threads of the embedded store do not load
 * `node:crypto`, which would take a third of the processor time of their start.
 */
export function randomInteger(low: number, high: number): number {
  const count = high - low
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1))
  // The last numbers of the range would favour the first results.
  if (number >= RANGE - (RANGE % count)) return randomInteger(low, high)
  return low + (number % count)
}
