/**
 * Strict mode. By default Strand accepts some requests that Twitch's servers refuse, because that is convenient for a
 * request written by hand. A program that is tested against it should find its mistakes before the real API does: in strict
 * mode Strand refuses what the real API refuses. This is the whole list; `npm run docs` writes it to docs/compatibility.md.
 * A rule is listed only if the answer of the real API is known, and if it catches a mistake that programs make.
 *
 * A rule with a `check` needs no other code: the endpoint applies it to the parameters of the operation that it names, as
 * soon as there is such an operation. The others are implemented where the file is named.
 */
import { familyOf, type Operation } from './operation.ts'
import { type ProblemName, type Refusal, refuse } from './problem.ts'

export interface StrictRule {
  /** The operation of Helix or OAuth that it applies to, or a text for another place; default: all operations of Helix. */
  readonly operation?: string
  readonly place?: string
  /** The decision that it tightens. */
  readonly decision: string
  /** What is accepted without strict mode. */
  readonly lenient: string
  /** What the real API answers, and strict mode too. */
  readonly strict: string
  /** Absent where nothing is refused. */
  readonly problem?: ProblemName
  readonly check?: (query: Query) => Refusal | undefined
}

type Query = Readonly<Record<string, unknown>>

const isId = (text: string) => /^[0-9]+$/.test(text)
const isLogin = (text: string) => /^[A-Za-z0-9_]{1,25}$/.test(text)

export const STRICT_RULES = {
  /** `http/endpoint/endpoint.ts` */
  client_id: {
    decision: 'D-3',
    lenient: 'The header `Client-Id` may be left out.',
    strict: 'A token without `Client-Id` is 401 `Client ID is missing`.',
    problem: 'client_id_missing',
  },
  /** `http/endpoint/endpoint.ts` */
  token: {
    operation: 'GetStreams',
    decision: 'D-29',
    lenient: 'No token is needed.',
    strict: 'A request without a token is 401 `OAuth token is missing`.',
    problem: 'token_missing',
  },
  stream_logins: {
    operation: 'GetStreams',
    decision: 'D-15',
    lenient: 'A `user_login` that cannot be a login, such as `a,b`, matches nothing.',
    strict: 'One of them makes the request 400 `Malformed query params.`',
    problem: 'malformed_logins',
    check: ({ user_login }) => (textsIn(user_login).every(isLogin) ? undefined : refuse('malformed_logins')),
  },
  user_identifiers: {
    operation: 'GetUsers',
    decision: 'D-62',
    lenient: 'An `id` or `login` that cannot be one is absent from the answer.',
    strict: 'One of them makes the request 400 `Invalid username(s), email(s), or ID(s). Bad Identifiers.`',
    problem: 'bad_identifiers',
    check: ({ id, login }) =>
      textsIn(id).every(isId) && textsIn(login).every(isLogin) ? undefined : refuse('bad_identifiers'),
  },
  broadcaster_ids: {
    operation: 'GetChannelInformation',
    decision: 'D-77',
    lenient: 'A `broadcaster_id` that is not a number is absent from the answer.',
    strict: 'One of them makes the request 400 `broadcaster_id "x" must be numeric`.',
    problem: 'id_not_numeric',
    check: ({ broadcaster_id }) => {
      const odd = textsIn(broadcaster_id).find(id => !isId(id))
      return odd === undefined ? undefined : refuse('id_not_numeric', 'broadcaster_id', odd.slice(0, 100))
    },
  },
  /** `contract/helix-scopes.ts` */
  scopes: {
    place: 'Authorization and device code',
    decision: '[Tokens](#tokens)',
    lenient: 'Any well-formed scope is granted.',
    strict: "A scope that does not exist is refused: `invalid scope requested: 'user:red:email'`.",
  },
  /** `operations/oauth/revoke-token.ts` */
  revoked_token: {
    operation: 'RevokeToken',
    decision: '[Tokens](#tokens)',
    lenient: 'A token that is unknown, expired, already revoked or of another client is 200.',
    strict: 'It is 400 `Invalid token`.',
    problem: 'token_not_revocable',
  },
  /** `operations/oauth/revoke-token.ts` */
  revoking_client: {
    operation: 'RevokeToken',
    decision: '[Tokens](#tokens)',
    lenient: 'An unknown client is 400 `Invalid client_id: x`.',
    strict: 'It is 404 `client does not exist`.',
    problem: 'revoking_client_not_found',
  },
  /** `http/endpoint/endpoint.ts` */
  idempotency_key: {
    operation: 'CreateStreamMarker',
    decision: 'D-39',
    lenient: 'A retry with the same `Idempotency-Key` returns the first marker.',
    strict: 'The header has no effect: a retry creates a second marker.',
  },
} as const satisfies Record<string, StrictRule>

/** Typed as rows, for code that reads the list. */
export const strictRules: readonly StrictRule[] = Object.values(STRICT_RULES)

/** The rules that apply to an operation. */
export function listStrictRules(operation: Pick<Operation, 'id' | 'path'>): readonly StrictRule[] {
  return strictRules.filter(rule => {
    if (rule.operation !== undefined) return rule.operation === operation.id
    return rule.place === undefined && familyOf(operation) === 'helix'
  })
}

/** What handlers refuse with in strict mode only. */
export type StrictProblem = 'token_not_revocable' | 'revoking_client_not_found'

/** What an operation may answer with in strict mode, beyond the problems that it declares. */
export function listStrictProblems(operation: Pick<Operation, 'id' | 'path'>): ReadonlySet<ProblemName> {
  return new Set(listStrictRules(operation).flatMap(({ problem }) => problem ?? []))
}

/** A repeatable parameter has a list of texts. */
function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : []
}
