import { isKnownScope } from '../../contract/scope.ts'

/** Maximum number of remembered scopes per user and application. */
const MAX_REMEMBERED = 200

/** Scopes that have an effect come first: those are what the user has to check. */
export function knownFirst(scopes: readonly string[]): string[] {
  return [...scopes.filter(isKnownScope), ...scopes.filter(scope => !isKnownScope(scope))]
}

/**
 * The scopes that a user has granted to an application so far, plus those granted now. The number of scopes without effect
 * is unbounded, so only the latest are kept; the user is asked again for dropped ones.
 */
export function rememberedScopes(before: readonly string[], now: readonly string[]): string[] {
  const all = [...new Set([...before, ...now])]
  if (all.length <= MAX_REMEMBERED) return all
  const known = all.filter(isKnownScope)
  const others = [...new Set([...now, ...before.toReversed()])].filter(scope => !isKnownScope(scope))
  return [...known, ...others.slice(0, MAX_REMEMBERED - known.length)]
}
