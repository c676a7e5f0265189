import {
  type Adapter,
  type ApiCall,
  keysIn,
  lastSegment,
  listAt,
  loginWithKey,
  type Publisher,
  textAt,
  valueAt,
} from './adapter.ts'

const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/
/** Pages of a list; MediaMTX allows at most 1000 items each. */
const PAGE_ITEMS = 1000
const MOST_PAGES = 20

/** The path of a publisher is also the path of its viewers, so the key is never in it: `live/<login>?key=<key>`. */
export const mediamtx: Adapter = {
  name: 'mediamtx',

  read: ({ json, form }) => {
    // For the optional command runOnUnavailable.
    if (form?.get('event') === 'end') {
      const session = form.get('session')
      return session ? { kind: 'end', session } : undefined
    }
    const action = textAt(json, 'action')
    const path = textAt(json, 'path') ?? ''
    if (action === undefined) return undefined
    if (action !== 'publish')
      return { kind: 'other', allowed: !MANAGEMENT.has(action) || LOOPBACK.test(textAt(json, 'ip') ?? '') }
    const query = new URLSearchParams(textAt(json, 'query') ?? '')
    const inFields = [textAt(json, 'token'), textAt(json, 'password')].filter(key => key !== undefined)
    const name = loginWithKey(lastSegment(path), inFields.length > 0 ? inFields : keysIn(query))
    if (name === undefined) return { kind: 'other', allowed: false }
    return { kind: 'publish', session: textAt(json, 'id'), name, address: textAt(json, 'ip') ?? '' }
  },

  /** 401, so that clients without credentials are asked for them. */
  respond: ({ kind }) => ({ status: kind === 'refused' || kind === 'gone' ? 401 : 200 }),

  api: {
    publishers: async call => (await listPaths(call)).flatMap(findPublisher),
    kick: async (call, { session }) => {
      const publishers = await listPaths(call)
      const path = publishers.find(each => textAt(each, 'source', 'id') === session)
      if (path === undefined) return
      const type = textAt(path, 'source', 'type') ?? ''
      const list = SOURCE_LISTS[type]
      if (list !== undefined) await call(`/v3/${list}/kick/${encodeURIComponent(session)}`, 'POST')
    },
  },
}

/** What reads or changes the media server instead of a broadcast. */
const MANAGEMENT = new Set(['api', 'metrics', 'pprof'])

const SOURCE_LISTS: Readonly<Record<string, string>> = {
  rtmpConn: 'rtmpconns',
  rtmpsConn: 'rtmpsconns',
  rtspSession: 'rtspsessions',
  rtspsSession: 'rtspssessions',
  srtConn: 'srtconns',
  webRTCSession: 'webrtcsessions',
}

async function listPaths(call: ApiCall): Promise<Readonly<Record<string, unknown>>[]> {
  const paths: Readonly<Record<string, unknown>>[] = []
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer: unknown = JSON.parse(await call(`/v3/paths/list?itemsPerPage=${PAGE_ITEMS}&page=${page}`))
    paths.push(...listAt(answer, 'items'))
    if (page + 1 >= Number(valueAt(answer, 'pageCount') ?? 1)) break
  }
  return paths
}

/** `ready` is what `online` was called before. */
function findPublisher(path: Readonly<Record<string, unknown>>): Publisher[] {
  const session = textAt(path, 'source', 'id')
  const name = textAt(path, 'name')
  const isOnline = valueAt(path, 'online') ?? valueAt(path, 'ready')
  const isPushed = SOURCE_LISTS[textAt(path, 'source', 'type') ?? ''] !== undefined
  if (session === undefined || name === undefined || isOnline === false || !isPushed) return []
  return [{ session, login: lastSegment(name), viewers: listAt(path, 'readers').length }]
}
