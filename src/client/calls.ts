import {
  controlOperations,
  dropsOperations,
  helixOperations,
  oauthOperations,
  playbackOperations,
} from '../contract/index.ts'
import { familyOf, type Operation, queryParameters } from '../contract/operation.ts'
import type { Call } from './call.ts'

/**
 * The operations of the contract as plain values. The build evaluates this file and bundles its exports
 * (`site/build/inline-calls.ts`), so that schemas, descriptions and examples stay out of people's programs.
 */

function describeCall(operation: Operation): Call {
  const { id, method, path, params, body, idempotent, repeatable } = operation
  return {
    id,
    method,
    path,
    params: Object.keys(params?.properties ?? {}),
    query: Object.keys(queryParameters(operation).properties),
    body: body && Object.keys(body.properties),
    credential: credentialKind(operation),
    ...(idempotent && { idempotent }),
    ...(repeatable && { repeatable }),
    answer: answerKind(operation),
  }
}

function answerKind({ returns, answerFile }: Operation): Call['answer'] {
  if (answerFile !== undefined) return 'text'
  return returns === undefined ? 'nothing' : 'json'
}

function credentialKind(operation: Operation): Call['credential'] {
  if (familyOf(operation) === 'control') return 'operatorToken'
  const isOpen = operation.access.kind === 'open' && !operation.problems.includes('missing_authorization')
  return isOpen ? 'none' : 'token'
}

/** Operations that answer an unbounded stream of lines are left out. */
function describeCalls(operations: Readonly<Record<string, Operation>>): Readonly<Record<string, Call>> {
  return Object.fromEntries(
    Object.entries(operations)
      .filter(([, operation]) => operation.answerLines === undefined)
      .map(([name, operation]) => [name, describeCall(operation)]),
  )
}

export const calls = {
  helix: describeCalls(helixOperations),
  drops: describeCalls(dropsOperations),
  oauth: describeCalls(oauthOperations),
  playback: describeCalls(playbackOperations),
  control: describeCalls(controlOperations),
}

export { reasonPhrases } from '../contract/problem.ts'
