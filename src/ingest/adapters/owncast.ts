import { type Adapter, textAt, valueAt } from './adapter.ts'

/** Owncast has one channel and checks its keys itself; it reports neither the key nor an id of the publisher. */
export const owncast: Adapter = {
  name: 'owncast',

  read: ({ json }) => {
    const type = textAt(json, 'type')
    if (type === undefined) return undefined
    if (type === 'STREAM_STOPPED') return { kind: 'end', session: undefined }
    if (type !== 'STREAM_STARTED') return { kind: 'other', allowed: true }
    return { kind: 'start', session: sessionOf(valueAt(json, 'eventData', 'status')) }
  },

  /** Owncast ignores the answer. */
  respond: () => ({ status: 200 }),

  api: {
    publishers: async call => {
      const status: unknown = JSON.parse(await call('/api/status'))
      if (valueAt(status, 'online') !== true) return []
      const viewers = Number(textAt(status, 'viewerCount') ?? 0)
      return [{ session: sessionOf(status), login: undefined, viewers }]
    },
  },
}

/** The time when the publisher connected; webhook and API have the same. */
const sessionOf = (status: unknown): string => textAt(status, 'lastConnectTime') ?? 'live'
