import type { DemoControls } from '../../operations/demo/demo-controls.ts'
import type { RequestContext } from '../request-context.ts'

/** Video that a demo invents, for everyone and from any site. Undefined: there is none at this path. */
export async function answerInvented(
  demo: DemoControls | undefined,
  { path, method, requestId }: RequestContext,
): Promise<Response | undefined> {
  const file = await demo?.video?.find(path)
  if (file === undefined) return undefined
  const body = typeof file.body === 'string' ? new TextEncoder().encode(file.body) : file.body
  return new Response(method === 'HEAD' ? null : body, {
    headers: {
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'X-Content-Type-Options': 'nosniff',
      'Content-Type': file.type,
      'Content-Length': String(body.length),
      'Cache-Control': file.cacheControl,
      'X-Request-Id': requestId,
    },
  })
}
