import { type Adapter, keysIn, lastSegment, listAt, loginWithKey, textAt, valueAt } from './adapter.ts'

const MOST_STREAMS = 10_000

/** The name of a stream is also its playback path, so the key is in the query: `<login>?key=<key>`. */
export const srs: Adapter = {
  name: 'srs',

  read: ({ json }) => {
    const action = textAt(json, 'action')
    const session = textAt(json, 'client_id')
    const login = textAt(json, 'stream')
    if (action === undefined) return undefined
    if (session === undefined || login === undefined) return { kind: 'other', allowed: true }
    switch (action) {
      case 'on_publish': {
        const query = new URLSearchParams((textAt(json, 'param') ?? '').replace(/^\?/, ''))
        const name = loginWithKey(login, keysIn(query))
        if (name === undefined) return { kind: 'other', allowed: false }
        return { kind: 'publish', session, name, address: textAt(json, 'ip') ?? '' }
      }
      case 'on_unpublish':
        return { kind: 'end', session }
      case 'on_dvr':
        return { kind: 'recorded', of: session, file: lastSegment(textAt(json, 'file') ?? '') || undefined }
      case 'on_play':
        return { kind: 'viewer', login, viewer: session, isThere: true }
      case 'on_stop':
        return { kind: 'viewer', login, viewer: session, isThere: false }
      default:
        return { kind: 'other', allowed: true }
    }
  },

  /** An empty body means no. */
  respond: ({ kind }) =>
    kind === 'refused' || kind === 'gone'
      ? { status: 403, json: { code: 403, data: null } }
      : { status: 200, json: { code: 0, data: null } },

  api: {
    publishers: async call => {
      const answer: unknown = JSON.parse(await call(`/api/v1/streams?start=0&count=${MOST_STREAMS}`))
      return listAt(answer, 'streams').flatMap(stream => {
        const session = textAt(stream, 'publish', 'cid')
        const login = textAt(stream, 'name')
        if (session === undefined || login === undefined) return []
        if (valueAt(stream, 'publish', 'active') !== true) return []
        // The publisher is a client too.
        const viewers = Math.max(0, Number(textAt(stream, 'clients') ?? 1) - 1)
        return [{ session, login, viewers }]
      })
    },
    kick: async (call, { session }) => {
      await call(`/api/v1/clients/${encodeURIComponent(session)}`, 'DELETE')
    },
  },
}
