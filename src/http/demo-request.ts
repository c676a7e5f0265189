import { isTokenCaller } from '../domain/caller.ts'
import { isoMillis } from '../kit/clock.ts'
import type { MaybePromise } from '../kit/maybe-promise.ts'
import type { DemoControls } from '../operations/demo-controls.ts'
import { spoilResponse } from './apply-fault.ts'
import type { RequestContext } from './request-context.ts'

/** Ends a request of a demo: it is in the journal before its caller has the response, which a fault may spoil. */
export function concludeDemoRequest(
  demo: DemoControls,
  context: RequestContext,
  response: MaybePromise<Response>,
): MaybePromise<Response> {
  if (context.operation === undefined && !isUnknownRoute(context)) return response
  return conclude(demo, context, response)
}

async function conclude(
  demo: DemoControls,
  context: RequestContext,
  answered: MaybePromise<Response>,
): Promise<Response> {
  const response = await answered
  if (context.family !== 'control') await record(demo, context, response)
  return spoilResponse(context, response)
}

/** Pictures and pages have counters of their own, and preflights come from browsers, not from programs. */
function isUnknownRoute({ family, tally, method }: RequestContext): boolean {
  return family !== undefined && family !== 'control' && tally === undefined && method !== 'OPTIONS'
}

async function record(demo: DemoControls, context: RequestContext, response: Response): Promise<void> {
  const { operation, method, path, search, headers, body, caller, fault } = context
  const owner = caller !== undefined && isTokenCaller(caller) ? caller : undefined
  demo.journal.record({
    at: isoMillis(demo.clock.now()),
    operation: operation?.id ?? null,
    method,
    path,
    search,
    headers,
    body: body === undefined ? '' : new TextDecoder().decode(body),
    client_id: owner?.client_id ?? null,
    user_id: owner?.kind === 'user' ? owner.user_id : null,
    status: fault === 'connection_reset' ? null : response.status,
    answer: await response.clone().text(),
    fault: fault ?? null,
  })
}
