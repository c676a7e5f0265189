import { type Adapter, lastSegment, textAt, valueAt } from './adapter.ts'

/** For other media servers, and for scripts: the format of docs/media-servers/generic.md. */
export const generic: Adapter = {
  name: 'generic',

  read: ({ json }) => {
    const session = textAt(json, 'session')
    if (session === undefined) return undefined
    switch (textAt(json, 'event')) {
      case 'publish': {
        const [key, login] = [textAt(json, 'key'), textAt(json, 'login')]
        if (key === undefined || login?.includes('?') || key.includes('?')) return undefined
        const name = login === undefined ? key : `${login}?key=${encodeURIComponent(key)}`
        return { kind: 'publish', session, name, address: textAt(json, 'address') ?? '' }
      }
      case 'alive':
        return { kind: 'alive', session }
      case 'end':
        return { kind: 'end', session }
      case 'recorded':
        return { kind: 'recorded', of: session, file: lastSegment(textAt(json, 'file') ?? '') || undefined }
      case 'viewer': {
        const [login, viewer] = [textAt(json, 'login'), textAt(json, 'viewer')]
        const isThere = valueAt(json, 'watching')
        if (login === undefined || viewer === undefined || typeof isThere !== 'boolean') return undefined
        return { kind: 'viewer', login, viewer, isThere }
      }
      default:
        return undefined
    }
  },

  respond: outcome => {
    if (outcome.kind === 'accepted')
      return { status: 200, json: { allowed: true, user_id: outcome.user_id, login: outcome.login } }
    const allowed = outcome.kind === 'noted'
    return { status: allowed ? 200 : 403, json: { allowed } }
  },
}
