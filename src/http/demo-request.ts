import { isTokenCaller } from '../domain/caller.ts'
import type { DemoControls } from '../operations/demo/demo-controls.ts'
import { spoilResponse } from './endpoint/apply-fault.ts'
import type { RequestContext } from './request-context.ts'

/** Ends a request of a demo: it is in the journal before its caller has the response, which a fault may spoil. */
export function concludeDemoRequest(
  demo: DemoControls,
  context: RequestContext,
  response: Response,
): Response | Promise<Response> {
  if (isRecorded(context)) record(demo, context, response)
  return context.plannedFault === undefined ? response : spoilResponse(context, response)
}

/**
 * Operations, and paths of the API that have none. Pictures and pages have counters of their own, and preflights come from
 * browsers, not from programs.
 */
function isRecorded({ family, operation, counter, method }: RequestContext): boolean {
  if (family === undefined || family === 'control') return false
  return operation !== undefined || (counter === undefined && method !== 'OPTIONS')
}

function record({ journal, clock }: DemoControls, context: RequestContext, { status }: Response): void {
  const { operation, method, path, search, headers, body, caller, answer, fault } = context
  const owner = caller !== undefined && isTokenCaller(caller) ? caller : undefined
  journal.record({
    at: clock.now(),
    operation: operation?.id ?? null,
    method,
    path,
    search,
    headers,
    body,
    client_id: owner?.client_id ?? null,
    user_id: owner?.kind === 'user' ? owner.user_id : null,
    status: fault === 'connection_reset' ? null : status,
    // Only the control API answers with streams.
    answer: answer instanceof ReadableStream ? null : answer,
    fault: fault ?? null,
  })
}
