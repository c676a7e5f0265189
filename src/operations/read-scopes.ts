import { isGrantableScope } from '../contract/helix-scopes.ts'
import { isRefusal, type Refusal, refuse } from '../contract/problem.ts'
import { MAX_SCOPES } from '../contract/scope.ts'

/** The distinct scopes of a request, unless one of them cannot be granted or there are too many. */
export function readScopes(
  text: string | readonly string[] | undefined,
  { strict = false }: { readonly strict?: boolean } = {},
): string[] | Refusal<'invalid_scope' | 'too_many_scopes'> {
  const scopes = distinctScopes(text)
  if (isRefusal(scopes)) return scopes
  const invalid = scopes.find(scope => !isGrantableScope(scope, strict))
  return invalid === undefined ? scopes : refuse('invalid_scope', invalid.slice(0, 100))
}

/** Limits the number of scopes where they have no effect; they may be malformed. */
export function refuseManyScopes(text: string | undefined): Refusal<'too_many_scopes'> | undefined {
  const scopes = distinctScopes(text)
  return isRefusal(scopes) ? scopes : undefined
}

function distinctScopes(text: string | readonly string[] | undefined): string[] | Refusal<'too_many_scopes'> {
  const scopes = [
    ...new Set(typeof text === 'string' ? text.split(' ').filter(scope => scope !== '') : (text ?? [])),
  ]
  return scopes.length > MAX_SCOPES ? refuse('too_many_scopes', MAX_SCOPES) : scopes
}
