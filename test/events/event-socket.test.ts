import { describe, expect, test } from 'bun:test'
import { type Connection, EventSocket } from '../../src/events/event-socket.ts'

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
  const socket = new EventSocket(FACTS, connection, 0, true)
  const deliver = (...ids: string[]) =>
    socket.deliver(
      ids.map(id => ({ id, text: id })),
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
