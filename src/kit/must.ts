/** The value, which cannot be missing at this place. If it is, that is a bug: it fails here instead of passing for empty. */
export function must<T>(value: T | null | undefined, what: string): T {
  if (value === undefined || value === null) throw new Error(`${what} is missing`)
  return value
}
