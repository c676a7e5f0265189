import type { Family, Operation } from '../contract/operation.ts'
import { problemsOf } from '../contract/operation.ts'
import { Problem, problem, reasonPhrases } from '../contract/problem.ts'
import { standardErrorOf } from '../contract/standard-error.ts'
import type { Log } from '../kit/log.ts'
import { Conflict, Overloaded, Unavailable } from '../store/errors.ts'
import type { RequestContext } from './request-context.ts'
import type { StoreFailures } from './store-failures.ts'
import { traceIdOf } from './trace-context.ts'

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

/** What a log line about a request begins with: by which of these it is found. */
export function logFieldsOf({ requestId, headers, operation, tally }: Logged) {
  return {
    request_id: requestId,
    trace_id: traceIdOf(headers),
    operation: operation?.id ?? tally?.name,
  }
}

type Logged = Pick<RequestContext, 'requestId' | 'headers' | 'operation' | 'tally'>

/** Where failures are logged. */
interface FailureLog {
  readonly log: Log
  readonly storeFailures: StoreFailures
}

/**
 * What was thrown, as the caller may see it: programs as JSON, people as a page. A problem that the operation does not
 * declare is a mistake of ours, as is anything else that is not a problem: it is logged with all we know, and answered
 * without a word of it.
 */
export function asProblem(thrown: unknown, context: Logged, { log, storeFailures }: FailureLog): Problem {
  const { operation } = context
  if (thrown instanceof Problem) {
    if (operation === undefined || problemsOf(operation).has(thrown.name)) return thrown
    log.error(
      { ...logFieldsOf(context), problem: thrown.name },
      'an operation failed in a way that it does not declare',
    )
    return problem('internal')
  }
  if (thrown instanceof Unavailable || thrown instanceof Conflict) {
    // Under overload even a summary would mislead; the store reports it now and then.
    if (thrown instanceof Overloaded)
      log.debug({ ...logFieldsOf(context), reason: thrown.message }, 'refused')
    else storeFailures.note(logFieldsOf(context), thrown.message)
    return problem('unavailable')
  }
  const error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  log.error({ ...logFieldsOf(context), error }, 'a request failed unexpectedly')
  return problem('internal')
}
