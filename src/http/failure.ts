import type { Family, Operation } from '../contract/operation.ts'
import { listProblems } from '../contract/operation.ts'
import { Problem, type ProblemName, problem, reasonPhrases } from '../contract/problem.ts'
import { standardErrorText } from '../contract/standard-error.ts'
import { listStrictProblems } from '../contract/strict.ts'
import type { Log } from '../kit/telemetry/log.ts'
import { Conflict, Overloaded, Unavailable } from '../store/errors.ts'
import type { RequestContext } from './request-context.ts'
import type { StoreFailures } from './store-failures.ts'
import { readTraceId } from './trace-context.ts'

/** The body of an error response: three fields, or two under OAuth (D-4). */
export function failureBody(
  family: Family | undefined,
  failure: Problem,
  operation?: Pick<Operation, 'standardErrors'>,
): string {
  const { name, status, message, fields } = failure
  if (operation?.standardErrors)
    return JSON.stringify({ error: standardErrorText(name), error_description: message, status, message })
  if (family === 'oauth') return JSON.stringify({ status, message })
  return JSON.stringify({ error: reasonPhrases[status] ?? 'Error', status, message, ...fields })
}

/** The fields that identify a request in the log. */
export function toLogFields({ requestId, headers, operation, counter }: Logged) {
  return {
    request_id: requestId,
    trace_id: readTraceId(headers),
    operation: operation?.id ?? counter?.name,
  }
}

type Logged = Pick<RequestContext, 'requestId' | 'headers' | 'operation' | 'counter'>

function mayAnswerWith(operation: Operation, name: ProblemName): boolean {
  return listProblems(operation).has(name) || listStrictProblems(operation).has(name)
}

interface FailureLog {
  readonly log: Log
  readonly storeFailures: StoreFailures
}

/**
 * The problem to return for a thrown value. A problem that the operation does not declare is a bug, and so is anything
 * else that is not a problem: it is logged in full, and the caller gets an internal error without details.
 */
export function asProblem(thrown: unknown, context: Logged, { log, storeFailures }: FailureLog): Problem {
  const { operation } = context
  if (thrown instanceof Problem) {
    // `internal` itself is only raised by a fault that a demo injects.
    if (operation === undefined || thrown.name === 'internal' || mayAnswerWith(operation, thrown.name))
      return thrown
    log.error(
      { ...toLogFields(context), problem: thrown.name },
      'an operation failed with an undeclared problem',
    )
    return problem('internal')
  }
  if (thrown instanceof Unavailable || thrown instanceof Conflict) {
    // Under overload even a summary would mislead; the store reports overload periodically.
    if (thrown instanceof Overloaded)
      log.debug(
        { ...toLogFields(context), reason: thrown.message },
        'a request was rejected: the store is overloaded',
      )
    else storeFailures.note(toLogFields(context), thrown.message)
    return problem('unavailable')
  }
  const error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  log.error({ ...toLogFields(context), error }, 'a request failed unexpectedly')
  return problem('internal')
}
