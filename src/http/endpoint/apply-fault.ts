/** The effects of planned faults on a response. */
import { familyOf, hasBucket, type Operation } from '../../contract/operation.ts'
import { Problem, raise, refuse } from '../../contract/problem.ts'
import type { Fault } from '../../contract/resources/fault.ts'
import { findTokenProblem } from '../../operations/demo/faults.ts'
import { secondsPerPoint } from '../limits/rate-limit.ts'
import type { RequestContext } from '../request-context.ts'

const SLOW_MILLISECONDS = 5000
/** A reset discards what its receiver has not read yet, so it follows after a while. */
const CUT_MILLISECONDS = 200

/** What a proxy answers in place of a server that it cannot reach: no JSON, and none of the server's headers. */
const BAD_GATEWAY =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><h1>502 Bad Gateway</h1></body>\r\n</html>\r\n'

/** Before the call takes effect: throws a problem, waits, or returns a response instead of that of the call. */
export async function applyFault(
  fault: Fault,
  operation: Operation,
  context: RequestContext,
): Promise<Response | undefined> {
  const { outcome, milliseconds = SLOW_MILLISECONDS, retry_after } = fault
  context.plannedFault = fault
  switch (outcome) {
    case 'slow':
      context.holdOpen()
      await Bun.sleep(milliseconds)
      return undefined
    case 'unavailable':
      return raise('unavailable', retry_after)
    case 'rate_limited': {
      if (!hasBucket(familyOf(operation))) return raise('too_many_requests', retry_after ?? 1)
      const seconds = retry_after ?? secondsPerPoint(context.allowance)
      const reset = Math.ceil(Date.now() / 1000) + seconds
      if (context.allowance !== undefined) context.allowance = { ...context.allowance, remaining: 0, reset }
      return raise('rate_limited', seconds)
    }
    case 'internal_error':
      return raise('internal')
    case 'token_invalid':
      throw new Problem(refuse(findTokenProblem(operation) ?? 'token_invalid'))
    case 'bad_gateway':
      context.answer = BAD_GATEWAY
      return new Response(BAD_GATEWAY, { status: 502, headers: { 'Content-Type': 'text/html' } })
    case 'connection_reset':
      return new Response(null, { status: 503 })
    default:
      return undefined
  }
}

/** When the response is complete: what reaches the caller of it. */
export async function spoilResponse(context: RequestContext, response: Response): Promise<Response> {
  const { outcome, bytes, milliseconds = SLOW_MILLISECONDS } = context.plannedFault ?? {}
  if (outcome === 'connection_reset' || outcome === 'answer_lost') return resetConnection()
  if (outcome !== 'broken_json' && outcome !== 'answer_cut' && outcome !== 'answer_stalled') return response
  const { status, headers } = response
  const body = await response.bytes()
  const half = Math.ceil(body.length / 2)
  if (outcome === 'broken_json') return new Response(body.subarray(0, half), { status, headers })
  const isCut = outcome === 'answer_cut'
  const start = Math.min(bytes ?? half, body.length - 1)
  if (!isCut) context.holdOpen()
  return new Response(
    interrupted(body.subarray(0, start), async () => {
      await Bun.sleep(isCut ? CUT_MILLISECONDS : milliseconds)
      return isCut ? undefined : body.subarray(start)
    }),
    { status, headers },
  )
}

/** Sends the start of a body, waits for the rest, and resets the connection if there is none. */
function interrupted(start: Uint8Array, rest: () => Promise<Uint8Array | undefined>): ReadableStream {
  let hasStarted = false
  return new ReadableStream({
    pull: async controller => {
      if (!hasStarted) {
        hasStarted = true
        return controller.enqueue(start)
      }
      const more = await rest()
      if (more === undefined) return controller.error()
      controller.enqueue(more)
      controller.close()
    },
  })
}

/** The runtime resets a connection whose response fails before its first byte, and logs no error that is undefined. */
function resetConnection(): Response {
  return new Response(new ReadableStream({ start: controller => controller.error() }))
}
