import { isGrantableScope } from '../contract/helix-scopes.ts'
import { raise } from '../contract/problem.ts'
import { MAX_SCOPES } from '../contract/scope.ts'

/** The distinct scopes of a request. Raises a problem for one that cannot be granted, or for too many. */
export function readScopes(
  text: string | readonly string[] | undefined,
  { strict = false }: { readonly strict?: boolean } = {},
): string[] {
  const scopes = distinctScopes(text)
  const invalid = scopes.find(scope => !isGrantableScope(scope, strict))
  return invalid === undefined ? scopes : raise('invalid_scope', invalid.slice(0, 100))
}

/** Limits the number of scopes where they have no effect; they may be malformed. */
export function tolerateScopes(text: string | undefined): void {
  distinctScopes(text)
}

function distinctScopes(text: string | readonly string[] | undefined): string[] {
  const scopes = [
    ...new Set(typeof text === 'string' ? text.split(' ').filter(scope => scope !== '') : (text ?? [])),
  ]
  return scopes.length > MAX_SCOPES ? raise('too_many_scopes', MAX_SCOPES) : scopes
}
