import { isKnownScope } from '../contract/scope.ts'

/** What is remembered of the scopes that a person has allowed an application. */
const MAX_REMEMBERED = 200

/** Those that open something first: they are what a person has to look at. */
export function knownFirst(scopes: readonly string[]): string[] {
  return [...scopes.filter(isKnownScope), ...scopes.filter(scope => !isKnownScope(scope))]
}

/**
 * The scopes that a person has allowed an application so far, with those they allow now. Of scopes that open nothing there
 * is no end, so only the latest are kept; what was dropped is asked for again.
 */
export function rememberedScopes(before: readonly string[], now: readonly string[]): string[] {
  const all = [...new Set([...before, ...now])]
  if (all.length <= MAX_REMEMBERED) return all
  const known = all.filter(isKnownScope)
  const others = [...new Set([...now, ...before.toReversed()])].filter(scope => !isKnownScope(scope))
  return [...known, ...others.slice(0, MAX_REMEMBERED - known.length)]
}
