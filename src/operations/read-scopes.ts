import { raise } from '../contract/problem.ts'
import { isWellFormedScope } from '../contract/scope.ts'

/** Scopes as a request lists them, each once; a malformed one is refused by name. */
export function readScopes(text: string | readonly string[] | undefined): string[] {
  const listed = typeof text === 'string' ? text.split(' ').filter(scope => scope !== '') : (text ?? [])
  const scopes = [...new Set(listed)]
  const malformed = scopes.find(scope => !isWellFormedScope(scope))
  return malformed === undefined ? scopes : raise('invalid_scope', malformed)
}
