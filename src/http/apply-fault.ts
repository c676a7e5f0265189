/** The effects of planned faults on a response. */
import { familyOf, type Operation } from '../contract/operation.ts'
import { Problem, raise, refuse } from '../contract/problem.ts'
import type { Fault, FaultOutcome } from '../contract/resources/fault.ts'
import { tokenProblemOf } from '../operations/faults.ts'
import { secondsPerPoint } from './rate-limit.ts'
import type { RequestContext } from './request-context.ts'

const SLOW_MILLISECONDS = 5000

/** What a proxy answers in place of a server that it cannot reach: no JSON, and none of the server's headers. */
const BAD_GATEWAY =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><h1>502 Bad Gateway</h1></body>\r\n</html>\r\n'

/** Before the call takes effect: throws a problem, waits, or returns a response instead of that of the call. */
export async function applyFault(
  { outcome, milliseconds = SLOW_MILLISECONDS, retry_after }: Fault,
  operation: Operation,
  context: RequestContext,
): Promise<Response | undefined> {
  context.fault = outcome
  switch (outcome) {
    case 'slow':
      context.holdOpen()
      await Bun.sleep(milliseconds)
      return undefined
    case 'unavailable':
      return raise('unavailable', retry_after)
    case 'rate_limited': {
      if (familyOf(operation) !== 'helix') return raise('too_many_requests', retry_after ?? 1)
      const seconds = retry_after ?? secondsPerPoint(context.allowance)
      const reset = Math.ceil(Date.now() / 1000) + seconds
      if (context.allowance !== undefined) context.allowance = { ...context.allowance, remaining: 0, reset }
      return raise('rate_limited', seconds)
    }
    case 'internal_error':
      return raise('internal')
    case 'token_invalid':
      throw new Problem(refuse(tokenProblemOf(operation) ?? 'token_invalid'))
    case 'bad_gateway':
      return new Response(BAD_GATEWAY, { status: 502, headers: { 'Content-Type': 'text/html' } })
    case 'connection_reset':
      return new Response(null, { status: 503 })
    default:
      return undefined
  }
}

/** When the response is complete: what reaches the caller of it. */
export async function spoilResponse(fault: FaultOutcome | undefined, response: Response): Promise<Response> {
  if (fault === 'connection_reset' || fault === 'answer_lost') return resetConnection()
  if (fault !== 'broken_json') return response
  const text = await response.text()
  const { status, headers } = response
  return new Response(text.slice(0, Math.ceil(text.length / 2)), { status, headers })
}

/** The runtime resets a connection whose response fails before its first byte, and logs no error that is undefined. */
function resetConnection(): Response {
  return new Response(new ReadableStream({ start: controller => controller.error() }))
}
