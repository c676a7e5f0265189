import { type Adapter, keysIn, lastSegment, nameWithKeys, type Publisher } from './adapter.ts'

/** The application that accepts publishers, and the one that others play from. */
export const INGEST_APPLICATION = 'live'
export const PLAYBACK_APPLICATION = 'show'

/** Arguments of nginx. It appends those of the publisher without a check, so a second one is forged. */
const RESERVED = [
  'app',
  'flashver',
  'swfurl',
  'tcurl',
  'pageurl',
  'addr',
  'clientid',
  'call',
  'name',
  'type',
  'time',
  'timestamp',
  'recorder',
  'path',
  'epoch',
] as const

export const nginxRtmp: Adapter = {
  name: 'nginx-rtmp',

  read: ({ form }) => {
    if (form === undefined) return undefined
    if (RESERVED.some(name => form.getAll(name).length > 1)) return { kind: 'other', allowed: false }
    const session = form.get('clientid')
    const name = form.get('name')
    const call = form.get('call')
    if (call === null || call === '') return undefined
    if (!ABOUT_PUBLISHERS.has(call)) return { kind: 'other', allowed: true }
    // After a redirect the name of later events is still the key, possibly one that was replaced: the client id counts.
    if (session === null || session === '' || name === null) return undefined
    if (call === 'publish') {
      if (name.includes('?')) return { kind: 'other', allowed: false }
      const address = form.get('addr') ?? ''
      return { kind: 'publish', session, name: nameWithKeys(name, keysIn(form)), address }
    }
    if (call === 'update_publish') return { kind: 'alive', session }
    if (call === 'publish_done') return { kind: 'end', session }
    return { kind: 'recorded', of: session, file: lastSegment(form.get('path') ?? '') || undefined }
  },

  /** A publisher is redirected to the login, so that the key is not the name of the stream. */
  respond: outcome => {
    if (outcome.kind === 'accepted') return { status: 302, location: outcome.login }
    // Anything but 2xx for an update would disconnect the publisher.
    return { status: outcome.kind === 'refused' ? 403 : 200 }
  },

  api: {
    publishers: async call => readStatistics(await call('/stat')),
    kick: async (call, { session, login }) => {
      // The API knows publishers by name only: another one may have taken its place.
      const publishers = readStatistics(await call('/stat'))
      if (!publishers.some(each => each.session === session)) return
      const app = INGEST_APPLICATION
      await call(`/control/drop/publisher?app=${app}&name=${encodeURIComponent(login)}`)
    },
  },
}

const ABOUT_PUBLISHERS = new Set(['publish', 'publish_done', 'update_publish', 'record_done'])

interface Client {
  readonly session: string
  readonly isPublishing: boolean
}

/** The publishers in a report of /stat, with the RTMP viewers of the playback application. */
function readStatistics(xml: string): Publisher[] {
  const streams = new Map<string, Map<string, Client[]>>()
  for (const application of elements(xml, 'application')) {
    const name = elementText(application, 'name')
    if (name !== undefined) streams.set(name, parseStreams(application))
  }
  const watched = streams.get(PLAYBACK_APPLICATION)
  return [...(streams.get(INGEST_APPLICATION) ?? [])].flatMap(([login, clients]) => {
    const publisher = clients.find(({ isPublishing }) => isPublishing)
    if (publisher === undefined) return []
    const viewers = (watched?.get(login) ?? []).filter(({ isPublishing }) => !isPublishing).length
    return [{ session: publisher.session, login, viewers }]
  })
}

function parseStreams(application: string): Map<string, Client[]> {
  return new Map(
    elements(application, 'stream').flatMap(stream => {
      const name = elementText(stream, 'name')
      const clients = elements(stream, 'client').flatMap(client => {
        const session = elementText(client, 'id')
        return session === undefined
          ? []
          : [{ session, isPublishing: client.includes('<publishing/>') || client.includes('<publishing />') }]
      })
      return name === undefined ? [] : [[name, clients] as const]
    }),
  )
}

/** The contents of elements with this name, which nginx never nests. Names in texts are escaped, so `<` begins a tag. */
function elements(xml: string, name: string): string[] {
  const [open, close] = [`<${name}>`, `</${name}>`]
  const found: string[] = []
  for (let at = xml.indexOf(open); at >= 0; at = xml.indexOf(open, at)) {
    const end = xml.indexOf(close, at)
    if (end < 0) break
    found.push(xml.slice(at + open.length, end))
    at = end + close.length
  }
  return found
}

function elementText(xml: string, name: string): string | undefined {
  const [text] = elements(xml, name)
  return text?.trim() || undefined
}
