import { controlOperations, helixOperations, oauthOperations, playbackOperations } from '../contract/index.ts'
import { familyOf, type Method, type Operation, queryParametersOf } from '../contract/operation.ts'
import { problems } from '../contract/problem.ts'

/**
 * What the client needs of the contract at run time, as plain values. The build evaluates this file and bundles its
 * exports (`build/inline-calls.ts`), so that schemas, descriptions and examples stay out of people's programs.
 */
export interface Call {
  readonly id: string
  readonly method: Method
  readonly path: string
  /** Names of the inputs that are sent in the path, the query string and the body. */
  readonly params: readonly string[]
  readonly query: readonly string[]
  /** Absent: the operation takes no body. */
  readonly body?: readonly string[] | undefined
  /** Which token of the client is sent. */
  readonly credential: 'none' | 'token' | 'operatorToken'
  /** Whether the call takes an idempotency key. */
  readonly idempotent?: true
  /** What the body of a success is. */
  readonly answer: 'nothing' | 'json' | 'text'
}

function callOf(operation: Operation): Call {
  const { id, method, path, params, body, idempotent } = operation
  return {
    id,
    method,
    path,
    params: Object.keys(params?.properties ?? {}),
    query: Object.keys(queryParametersOf(operation).properties),
    body: body && Object.keys(body.properties),
    credential: credentialOf(operation),
    ...(idempotent && { idempotent }),
    answer: answerKindOf(operation),
  }
}

function answerKindOf({ returns, answerFile }: Operation): Call['answer'] {
  if (answerFile !== undefined) return 'text'
  return returns === undefined ? 'nothing' : 'json'
}

function credentialOf(operation: Operation): Call['credential'] {
  if (familyOf(operation) === 'control') return 'operatorToken'
  const isOpen = operation.access.kind === 'open' && !operation.problems.includes('missing_authorization')
  return isOpen ? 'none' : 'token'
}

/** Operations that answer an unbounded stream of lines are left out. */
function callsOf(operations: Readonly<Record<string, Operation>>): Readonly<Record<string, Call>> {
  return Object.fromEntries(
    Object.entries(operations)
      .filter(([, operation]) => operation.answerLines === undefined)
      .map(([name, operation]) => [name, callOf(operation)]),
  )
}

export const calls = {
  helix: callsOf(helixOperations),
  oauth: callsOf(oauthOperations),
  playback: callsOf(playbackOperations),
  control: callsOf(controlOperations),
}

export const routeUnknownMessage = problems.route_unknown.message()

export { reasonPhrases } from '../contract/problem.ts'
