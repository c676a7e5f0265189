import { type Adapter, keysIn, lastSegment, nameWithKeys, textAt } from './adapter.ts'

/** Sessions have no id; a publisher is known by its address and port. */
export const ovenMediaEngine: Adapter = {
  name: 'ovenmediaengine',

  read: ({ json }) => {
    const direction = textAt(json, 'request', 'direction')
    const status = textAt(json, 'request', 'status')
    const url = urlOf(json)
    const [address, port] = [textAt(json, 'client', 'address'), textAt(json, 'client', 'port')]
    if (direction === undefined || status === undefined) return undefined
    if (url === undefined || address === undefined || port === undefined) return undefined
    const session = `${address}:${port}`
    const name = decodeURIComponent(lastSegment(url.pathname))
    if (direction !== 'incoming')
      return { kind: 'viewer', login: name, viewer: session, isThere: status === 'opening' }
    if (status !== 'opening') return { kind: 'end', session }
    const realAddress = textAt(json, 'client', 'real_ip') ?? address
    const keyed = nameWithKeys(name, keysIn(url.searchParams))
    return { kind: 'publish', session, name: keyed, address: realAddress }
  },

  /** A publisher gets a URL without the key. Ends of sessions are answered with an empty object. */
  respond: (outcome, { json }) => {
    if (textAt(json, 'request', 'status') === 'closing') return { status: 200, json: {} }
    if (outcome.kind === 'refused' || outcome.kind === 'gone')
      return {
        status: 200,
        json: { allowed: false, reason: 'wrong stream key, or another publisher is live' },
      }
    if (outcome.kind !== 'accepted') return { status: 200, json: { allowed: true } }
    const url = urlOf(json)
    if (url === undefined) return { status: 200, json: { allowed: false } }
    const folder = url.pathname.slice(0, url.pathname.lastIndexOf('/') + 1)
    return {
      status: 200,
      json: { allowed: true, new_url: `${url.protocol}//${url.host}${folder}${outcome.login}` },
    }
  },
}

function urlOf(json: unknown): URL | undefined {
  const text = textAt(json, 'request', 'url')
  const url = text === undefined ? null : URL.parse(text)
  if (url === null || lastSegment(url.pathname) === '') return undefined
  try {
    decodeURIComponent(url.pathname)
    return url
  } catch {
    return undefined
  }
}
