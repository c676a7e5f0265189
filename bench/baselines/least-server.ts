/**
 * The least server: what a server of this API cannot leave out, on the same store, and nothing else. It reads the url and
 * the headers, knows callers by the hash of their token, opens and seals cursors, answers what Strand answers with the same
 * headers; all in straight code for one operation, without a contract, a router, limits, a log or a feed. What lies between
 * it and the bare server is the work itself; what lies between it and Strand is what Strand's design costs.
 * Prints its port.
 */
import { Cursors } from '../../src/http/endpoint/cursor.ts'
import { commonHeaders } from '../../src/http/responses/response-headers.ts'
import { KeyRing, parseMasterKeys } from '../../src/kit/crypto/key-ring.ts'
import { knowCallers, type LeastOperation, openReader } from './least/operation.ts'
import * as rows from './least/rows.ts'
import { getStreams } from './least/streams.ts'
import { createStreamMarker, updateDropsEntitlements } from './least/writes.ts'

export interface LeastPlan {
  /** Its method and path. */
  readonly operation: string
  readonly storeFile: string
  /** In the form of STRAND_MASTER_KEYS. */
  readonly masterKeys: string
  /** Where Strand is, for the links in answers. */
  readonly publicUrl: string
}

const OPERATIONS: Readonly<Record<string, LeastOperation>> = {
  'GET /helix/streams': getStreams,
  'GET /helix/streams/key': rows.getStreamKey,
  'GET /helix/entitlements/drops': rows.getDropsEntitlements,
  'PATCH /helix/entitlements/drops': updateDropsEntitlements,
  'POST /helix/streams/markers': createStreamMarker,
  'GET /helix/users': rows.getUsers,
  'GET /helix/channels': rows.getChannelInformation,
}

const { operation, storeFile, masterKeys, publicUrl }: LeastPlan = await Bun.file(
  process.argv[2] ?? '',
).json()
const ring = new KeyRing(parseMasterKeys(masterKeys) ?? [])
const reader = openReader(storeFile)
const open = OPERATIONS[operation]
if (open === undefined) throw new Error(`the least server does not know ${operation}`)
const answer = await open({ storeFile, publicUrl, ring, cursors: new Cursors(ring), reader })
const findCaller = knowCallers(reader)
/** As many headers as an answer of Strand has; the runtime copies them fastest from a `Headers` object. */
const common = new Headers({
  ...commonHeaders('helix'),
  Vary: 'Authorization',
  'Ratelimit-Limit': '800',
  'Ratelimit-Remaining': '800',
  'Ratelimit-Reset': '1',
})
const respond = (body: string, requestId: string) => {
  common.set('X-Request-Id', requestId)
  return new Response(body, { headers: common })
}
const { port } = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: request => {
    const { url, headers } = request
    const requestId = headers.get('x-request-id') ?? crypto.randomUUID()
    const caller = findCaller(headers)
    if (caller === 'invalid') return new Response(null, { status: 401 })
    const question = url.indexOf('?')
    const body = answer(question < 0 ? '' : url.slice(question + 1), caller, request)
    return typeof body === 'string' ? respond(body, requestId) : body.then(text => respond(text, requestId))
  },
  error: () => new Response(null, { status: 400 }),
})
console.log(port)
