import {
  type Adapter,
  type HookRequest,
  type IngestEvent,
  keysIn,
  loginWithKey,
  plainResponse,
  textAt,
  valueAt,
} from './adapter.ts'

/** The name of a stream is also its playback path, so the key is in the query: `<login>?key=<key>`. */
export const nodeMediaServer: Adapter = {
  name: 'node-media-server',

  read: ({ json }: HookRequest): IngestEvent | undefined => {
    const action = textAt(json, 'action')
    const session = textAt(json, 'id')
    const login = textAt(json, 'name')
    if (action === undefined || session === undefined || login === undefined) return undefined
    switch (action) {
      case 'prePublish': {
        const query = valueAt(json, 'query')
        const names = Object.keys(typeof query === 'object' && query !== null ? query : {})
        const parameters = names.map((each): [string, string] => [each, textAt(query, each) ?? ''])
        const name = loginWithKey(login, keysIn(new URLSearchParams(parameters)))
        if (name === undefined) return { kind: 'other', allowed: false }
        return { kind: 'publish', session, name, address: withoutPort(textAt(json, 'ip') ?? '') }
      }
      case 'donePublish':
        return { kind: 'end', session }
      case 'doneRecord':
        return { kind: 'recorded', session }
      case 'postPlay':
        return { kind: 'viewer', login, viewer: session, isThere: true }
      case 'donePlay':
        return { kind: 'viewer', login, viewer: session, isThere: false }
      default:
        return { kind: 'other', allowed: true }
    }
  },

  respond: plainResponse,
}

const withoutPort = (address: string): string => address.replace(/:[0-9]+$/, '')
