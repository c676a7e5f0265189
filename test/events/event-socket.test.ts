import { describe, expect, test } from 'bun:test'
import { type Connection, EventSocket } from '../../src/events/sockets/event-socket.ts'

const FACTS = { id: 'session', connected_at: '2026-01-01T00:00:00.000Z', keepalive_seconds: 600 }

function opened() {
  const pings: string[] = []
  let buffered = 0
  const connection: Connection = {
    send: text => text.length,
    ping: payload => pings.push(payload),
    getBufferedAmount: () => buffered,
    close: () => undefined,
  }
  const socket = new EventSocket(FACTS, connection, 0, { isUsed: true })
  const deliver = (...ids: string[]) =>
    socket.deliver(
      ids.map(id => ({ id, text: id, type: 'stream.online', subscription_id: 'x' })),
      0,
    )
  return { socket, pings, deliver, buffer: (bytes: number) => (buffered = bytes) }
}

describe('a pong', () => {
  test('confirms what was sent before its ping', () => {
    const { socket, pings, deliver } = opened()
    deliver('a', 'b')
    deliver('c')
    expect(socket.confirm(pings[0] as string)).toEqual(['a', 'b'])
    expect(socket.unconfirmed).toEqual(['c'])
    expect(socket.confirm(pings[1] as string)).toEqual(['c'])
    expect(socket.unconfirmed).toEqual([])
  })

  test.each(['', 'x', 'NaN', '1x', '-1', '\u0000'])(
    '%j, which answers no ping, confirms nothing',
    payload => {
      const { socket, deliver } = opened()
      deliver('a', 'b')
      expect(socket.confirm(payload)).toEqual([])
      expect(socket.unconfirmed).toEqual(['a', 'b'])
    },
  )
})

describe('a client that confirms nothing for 15 seconds', () => {
  test('has failed to answer a ping', () => {
    const { socket, deliver } = opened()
    deliver('a')
    expect(socket.tick(15_000)).toBeUndefined()
    expect(socket.tick(15_001)).toBe('pingPong')
  })

  test('is too slow if the network has not taken all of it', () => {
    const { socket, deliver, buffer } = opened()
    deliver('a')
    buffer(1)
    expect(socket.tick(15_001)).toBe('timeout')
  })
})

test('a fault silences a session at its next message, a keepalive too, and for ever', () => {
  const sent: string[] = []
  const connection: Connection = {
    send: text => sent.push(text),
    ping: payload => sent.push(payload),
    getBufferedAmount: () => 0,
    close: () => undefined,
  }
  let asked = 0
  const faults = {
    takeMessage: () => {
      asked += 1
      return asked === 2 ? ('socket_silent' as const) : undefined
    },
  }
  const socket = new EventSocket({ ...FACTS, keepalive_seconds: 10 }, connection, 0, { isUsed: true, faults })
  socket.welcome(0)
  expect(socket.tick(10_000)).toBeUndefined()
  expect(sent.map(text => JSON.parse(text).metadata.message_type)).toEqual([
    'session_welcome',
    'session_keepalive',
  ])
  for (const now of [20_000, 100_000, 1_000_000]) expect(socket.tick(now)).toBeUndefined()
  socket.deliver([{ id: 'a', text: 'a', type: 'stream.online', subscription_id: 'x' }], 1_000_000)
  expect([sent.length, socket.room, socket.isSilent, socket.isOpen, asked]).toEqual([2, 0, true, true, 2])
})
