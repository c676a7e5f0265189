import { raise } from '../contract/problem.ts'
import { isWellFormedScope, MAX_SCOPES } from '../contract/scope.ts'

/** The distinct scopes of a request. Raises a problem for a malformed scope, or for too many. */
export function readScopes(text: string | readonly string[] | undefined): string[] {
  const scopes = distinctScopes(text)
  const malformed = scopes.find(scope => !isWellFormedScope(scope))
  return malformed === undefined ? scopes : raise('invalid_scope', malformed.slice(0, 100))
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
