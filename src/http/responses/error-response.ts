import { hasBucket } from '../../contract/operation.ts'
import { type Problem, problem } from '../../contract/problem.ts'
import { asksForPage } from '../../site/pages.ts'
import { answerStarting } from '../../site/render/starting-page.ts'
import { failureBody } from '../failure.ts'
import { familyAt } from '../families.ts'
import { fullBucket } from '../limits/rate-limit.ts'
import { NO_PEER, RequestContext } from '../request-context.ts'
import { selectResponseHeaders } from './response-headers.ts'

/** A problem in the form of the family that the request belongs to. */
export function errorResponse(context: RequestContext, failure: Problem): Response {
  const { family } = context
  const body = failureBody(family, failure, context.operation)
  const response = selectResponseHeaders(family).respond(failure.status, body, context)
  // Bodies are fixed by the wire; clients ignore a header that they do not know (D-160).
  response.headers.set('Strand-Error', failure.name)
  if (failure.input !== undefined && family === 'control')
    response.headers.set('Strand-Error-Input', headerText(failure.input))
  for (const [name, value] of Object.entries(failure.headers)) response.headers.set(name, value)
  return response
}

const MAX_HEADER_TEXT = 500

/** JSON in ASCII, because a header has no other characters. Names that a caller has made up may be long: then it is left empty. */
function headerText(value: object): string {
  const text = JSON.stringify(value).replace(
    /[^ -~]/g,
    unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return text.length > MAX_HEADER_TEXT ? '{}' : text
}

/** The response while the store is being opened: alive, not ready. A person gets a page that waits. */
export function answerBeforeReady(request: Request): Response {
  const context = new RequestContext(request, NO_PEER, [])
  if (context.path === '/healthz')
    return selectResponseHeaders(undefined).respond(200, '{"status":"ok"}', context)
  context.family = familyAt(context.path)
  const isPage = context.family === undefined && context.path !== '/readyz'
  if (isPage && asksForPage(request)) return answerStarting()
  if (hasBucket(context.family)) context.allowance = fullBucket(Date.now())
  return errorResponse(context, problem('unavailable'))
}
