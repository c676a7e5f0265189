/** Returns a value that cannot be missing. If it is, that is a bug, and this throws. */
export function assertDefined<T>(value: T | null | undefined, what: string): T {
  if (value === undefined || value === null) throw new Error(`${what} is missing`)
  return value
}
