import { raise } from '../contract/problem.ts'
import { isWellFormedScope, MAX_SCOPES } from '../contract/scope.ts'

/** Scopes as a request lists them, each once and not too many; a malformed one is refused by name. */
export function readScopes(text: string | readonly string[] | undefined): string[] {
  const scopes = listed(text)
  const malformed = scopes.find(scope => !isWellFormedScope(scope))
  return malformed === undefined ? scopes : raise('invalid_scope', malformed.slice(0, 100))
}

/** Scopes that have no effect where they are sent: they may be anything, but not too many. */
export function tolerateScopes(text: string | undefined): void {
  listed(text)
}

function listed(text: string | readonly string[] | undefined): string[] {
  const scopes = [
    ...new Set(typeof text === 'string' ? text.split(' ').filter(scope => scope !== '') : (text ?? [])),
  ]
  return scopes.length > MAX_SCOPES ? raise('too_many_scopes', MAX_SCOPES) : scopes
}
