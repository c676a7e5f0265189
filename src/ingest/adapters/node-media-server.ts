import {
  type Adapter,
  type ApiCall,
  keysIn,
  lastSegment,
  listAt,
  loginWithKey,
  type Publisher,
  plainResponse,
  textAt,
  valueAt,
} from './adapter.ts'

/** The year 9999. */
const MAX_TIME = 253_370_764_800_000

/** The name of a stream is also its playback path, so the key is in the query: `<login>?key=<key>`. */
export const nodeMediaServer: Adapter = {
  name: 'node-media-server',
  asksLate: true,

  read: ({ json }) => {
    const action = textAt(json, 'action')
    const session = textAt(json, 'id')
    const login = textAt(json, 'name')
    if (action === undefined || session === undefined || login === undefined) return undefined
    switch (action) {
      case 'prePublish': {
        const name = loginWithKey(login, keysIn(parseParameters(valueAt(json, 'query'))))
        if (name === undefined) return { kind: 'other', allowed: false }
        return { kind: 'publish', session, name, address: withoutPort(textAt(json, 'ip') ?? '') }
      }
      case 'donePublish':
        return { kind: 'end', session }
      case 'doneRecord': {
        // The session is that of the recording, not of the publisher.
        const [app, path] = [textAt(json, 'app'), textAt(json, 'filePath')]
        const since = Number(textAt(json, 'createtime'))
        if (app === undefined || path === undefined || !(since >= 0 && since < MAX_TIME)) return undefined
        return { kind: 'recorded', of: { login, since }, file: `${app}/${login}/${lastSegment(path)}` }
      }
      case 'postPlay':
        return { kind: 'viewer', login, viewer: session, isThere: true }
      case 'donePlay':
        return { kind: 'viewer', login, viewer: session, isThere: false }
      default:
        return { kind: 'other', allowed: true }
    }
  },

  respond: plainResponse,

  api: {
    hasSecret: true,
    publishers: publishersAt,
    kick: async (call, { session }) => {
      const publishers = await publishersAt(call)
      if (!publishers.some(each => each.session === session)) return
      await call(`/api/v1/sessions/${encodeURIComponent(session)}`, 'DELETE')
    },
  },
}

/** A publisher that has gone is listed for 30 s more, as one that may return. */
async function publishersAt(call: ApiCall): Promise<Publisher[]> {
  const answer: unknown = JSON.parse(await call('/api/v1/streams'))
  return listAt(answer, 'data', 'streams').flatMap(stream => {
    const session = textAt(stream, 'publisher', 'id')
    const login = textAt(stream, 'name')
    if (session === undefined || login === undefined) return []
    if (valueAt(stream, 'status') !== 'publishing') return []
    // A recording is a subscriber too.
    const others = valueAt(stream, 'recording') === true ? 1 : 0
    const viewers = Math.max(0, Number(textAt(stream, 'subscribers') ?? 0) - others)
    return [{ session, login, viewers }]
  })
}

/** A parameter that is given twice arrives as a list. */
function parseParameters(query: unknown): URLSearchParams {
  const given = Object.entries(typeof query === 'object' && query !== null ? query : {})
  return new URLSearchParams(
    given.flatMap(([name, value]: [string, unknown]) =>
      (Array.isArray(value) ? value : [value]).map((each): [string, string] => [name, plainText(each)]),
    ),
  )
}

/** What is not text is no key. */
const plainText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

const withoutPort = (address: string): string => address.replace(/:[0-9]+$/, '')
