/** Media servers that exist only as a list of their publishers, each with its callbacks and API. */
import type { AdapterName } from '../../src/contract/resources/media-server.ts'
import type { HookRequest } from '../../src/ingest/adapters/adapter.ts'
import type { FakePublisher } from './media-api.ts'

export interface Broadcaster {
  readonly login: string
  readonly key: string
}

export interface Dialect {
  readonly adapter: AdapterName
  publish(session: string, broadcaster: Broadcaster): HookRequest
  end(session: string, broadcaster: Broadcaster): HookRequest
  /** The answer of its API to a list of publishers; undefined: Strand uses none. */
  readonly list?: (publishers: readonly FakePublisher[]) => string
  /** The session that a request to its API disconnects. */
  readonly kicked?: (path: string, method: string) => string | undefined
}

const form = (fields: Record<string, string>): HookRequest => ({ form: new URLSearchParams(fields) })
const json = (value: object): HookRequest => ({ json: value as Readonly<Record<string, unknown>> })
const after = (prefix: string, path: string): string | undefined =>
  path.startsWith(prefix) ? path.slice(prefix.length) : undefined

const node = (action: string, session: string, { login, key }: Broadcaster): HookRequest =>
  json({ id: session, ip: '192.0.2.7:4000', app: 'live', name: login, query: { key }, action })

export const DIALECTS: readonly Dialect[] = [
  {
    adapter: 'mediamtx',
    publish: (id, { login, key }) =>
      json({ action: 'publish', id, ip: '192.0.2.7', path: `live/${login}`, query: `token=${key}` }),
    end: session => form({ event: 'end', session }),
    list: publishers =>
      JSON.stringify({
        pageCount: 1,
        items: publishers.map(({ login, session }) => ({
          name: `live/${login}`,
          online: true,
          readers: [],
          source: { type: 'rtmpConn', id: session },
        })),
      }),
    kicked: path => after('/v3/rtmpconns/kick/', path),
  },
  {
    adapter: 'srs',
    publish: (client_id, { login, key }) =>
      json({ action: 'on_publish', client_id, ip: '192.0.2.7', stream: login, param: `?key=${key}` }),
    end: (client_id, { login }) => json({ action: 'on_unpublish', client_id, stream: login }),
    list: publishers =>
      JSON.stringify({
        code: 0,
        streams: publishers.map(({ login, session }) => ({
          name: login,
          clients: 1,
          publish: { active: true, cid: session },
        })),
      }),
    kicked: path => after('/api/v1/clients/', path),
  },
  {
    adapter: 'node-media-server',
    publish: (session, broadcaster) => node('prePublish', session, broadcaster),
    end: (session, broadcaster) => node('donePublish', session, broadcaster),
    list: publishers =>
      JSON.stringify({
        success: true,
        data: {
          streams: publishers.map(({ login, session }) => ({
            app: 'live',
            name: login,
            status: 'publishing',
            publisher: { id: session },
            subscribers: 0,
            recording: false,
          })),
        },
      }),
    kicked: (path, method) => (method === 'DELETE' ? after('/api/v1/sessions/', path) : undefined),
  },
  {
    adapter: 'generic',
    publish: (session, { key }) => json({ event: 'publish', session, key, address: '192.0.2.7' }),
    end: session => json({ event: 'end', session }),
  },
]

/** The API of such a media server. */
export class FakeApi {
  publishers: FakePublisher[] = []
  readonly #server: Bun.Server<undefined>

  constructor({ list, kicked }: Dialect) {
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: request => {
        const session = kicked?.(new URL(request.url).pathname, request.method)
        if (session === undefined) return new Response(list?.(this.publishers))
        this.publishers = this.publishers.filter(each => each.session !== session)
        return new Response('{}')
      },
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  async stop(): Promise<void> {
    await this.#server.stop(true)
  }
}
