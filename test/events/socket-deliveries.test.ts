/** What becomes of messages while their client moves, and while the store is busy. */
import { expect, test } from 'bun:test'
import { EventSocket } from '../../src/events/sockets/event-socket.ts'
import { SocketDeliveries } from '../../src/events/sockets/socket-deliveries.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { Unavailable } from '../../src/store/errors.ts'
import type { Store } from '../../src/store/store.ts'

const FACTS = { id: 'session', connected_at: '2026-01-01T00:00:00.000Z', keepalive_seconds: 600 }
const MESSAGE = {
  ...{ id: 'delivery', session_id: FACTS.id, subscription_id: 'subscription', type: 'stream.online' },
  ...{
    kind: 'notification',
    message: 'message',
    condition: '{}',
    body: '{}',
    created_at: FACTS.connected_at,
  },
}

/** One WebSocket, and a store that has one message for it and refuses to settle so many times. */
function opened(refusals = 0) {
  const sent: string[] = []
  const pings: string[] = []
  const socket = new EventSocket(
    FACTS,
    {
      send: text => sent.push(text),
      ping: payload => pings.push(payload),
      getBufferedAmount: () => 0,
      close: () => undefined,
    },
    0,
    { isUsed: true },
  )
  const settled: string[] = []
  const due = [{ target: `websocket:${FACTS.id}` }]
  const asked = Promise.withResolvers<void>()
  const claimed = Promise.withResolvers<unknown[]>()
  let left = refusals
  const store = {
    eventDeliveries: { dueSockets: async () => due.splice(0) },
    commands: {
      claimSocketMessages: () => {
        asked.resolve()
        return claimed.promise
      },
      settleDeliveries: async ({
        outcomes: [{ ids, outcome, isUnsent }],
      }: {
        outcomes: [{ ids: string[]; outcome: string; isUnsent?: boolean }]
      }) => {
        if (left-- > 0) throw new Unavailable('busy')
        settled.push(`${ids}: ${outcome}${isUnsent ? ', unsent' : ''}`)
      },
    },
  } as unknown as Store
  const log = createLog({ level: 'error', readable: false, write: () => undefined })
  const sockets = new Map([[FACTS.id, socket]])
  const deliveries = new SocketDeliveries({ store, log, node: 'node', sockets })
  const notifications = () => sent.filter(text => text.includes('"notification"')).length
  return {
    socket,
    sockets,
    pings,
    settled,
    deliveries,
    notifications,
    asked: asked.promise,
    claim: () => claimed.resolve([MESSAGE]),
  }
}

test('a message is sent once, and settled when it is confirmed, though the store is busy', async () => {
  const { socket, pings, settled, deliveries, notifications, claim } = opened(3)
  claim()
  await deliveries.deliverAll()
  expect(notifications()).toBe(1)
  deliveries.confirm(socket.confirm(pings[0] as string))
  await deliveries.settlement()
  expect(settled).toEqual(['delivery: delivered'])
})

test('a message that is claimed while its client is asked to move waits for the new WebSocket', async () => {
  const { socket, settled, deliveries, notifications, asked, claim } = opened()
  const delivering = deliveries.deliverAll()
  await asked
  socket.askToMove('ws://localhost/next', 0, 1000)
  claim()
  await delivering
  expect(notifications()).toBe(0)
  expect(settled).toEqual(['delivery: retry, unsent'])
})

test('a message that is claimed while its client leaves does not wait until the claim ends', async () => {
  const { sockets, settled, deliveries, asked, claim } = opened()
  const delivering = deliveries.deliverAll()
  await asked
  sockets.delete(FACTS.id)
  claim()
  await delivering
  expect(settled).toEqual(['delivery: retry, unsent'])
})
