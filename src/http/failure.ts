import type { Family, Operation } from '../contract/operation.ts'
import { problemsOf } from '../contract/operation.ts'
import { Problem, problem, reasonPhrases } from '../contract/problem.ts'
import { standardErrorOf } from '../contract/standard-error.ts'
import type { Log } from '../kit/log.ts'
import { Conflict, Overloaded, Unavailable } from '../store/errors.ts'
import type { Visit } from './visit.ts'

/** The body of a failure: three fields, or two on the OAuth side (D-4). */
export function failureBody(
  family: Family | undefined,
  failure: Problem,
  operation?: Pick<Operation, 'standardErrors'>,
): string {
  const { name, status, message } = failure
  if (operation?.standardErrors)
    return JSON.stringify({ error: standardErrorOf(name), error_description: message, status, message })
  if (family === 'oauth') return JSON.stringify({ status, message })
  return JSON.stringify({ error: reasonPhrases[status] ?? 'Error', status, message })
}

/** What a failed request is called in the log. */
type Failed = Pick<Visit, 'requestId' | 'endpoint' | 'tally'>

/**
 * What was thrown, as the caller may see it: programs as JSON, people as a page. A problem that the operation does not
 * declare is a mistake of ours, as is anything else that is not a problem: it is logged with all we know, and answered
 * without a word of it.
 */
export function asProblem(thrown: unknown, { requestId, endpoint, tally }: Failed, log: Log): Problem {
  const operation = endpoint?.operation
  const failed = { request_id: requestId, operation: operation?.id ?? tally?.name }
  if (thrown instanceof Problem) {
    if (operation === undefined || problemsOf(operation).has(thrown.name)) return thrown
    log.error({ ...failed, problem: thrown.name }, 'an operation failed in a way that it does not declare')
    return problem('internal')
  }
  if (thrown instanceof Unavailable || thrown instanceof Conflict) {
    // Under overload a line for each would be a load of its own; the store reports it now and then.
    const level = thrown instanceof Overloaded ? 'debug' : 'warn'
    log[level]({ ...failed, reason: thrown.message }, 'the store is unavailable')
    return problem('unavailable')
  }
  const error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  log.error({ ...failed, error }, 'a request failed unexpectedly')
  return problem('internal')
}
