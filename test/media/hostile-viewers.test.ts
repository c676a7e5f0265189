/** Viewers that want more than to watch (D-126). */
import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { LiveChannels } from '../../src/media/live-channels.ts'
import { AVC, RtmpClient } from '../support/media/rtmp-client.ts'
import { onEachStore } from '../support/server/each-store.ts'

const [TOTAL, PER_NETWORK, PER_SITE] = [5000, 1000, 2000]
const config = { rtmpListen: { host: '127.0.0.1', port: 0 }, reconnectGraceSeconds: 1 }

describe('viewers of one owner', () => {
  /** How many of these may watch, one after another. */
  const watching = (channels: LiveChannels, count: number, addressOf: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => channels.watch('login', addressOf(index))).filter(
      each => each instanceof ReadableStream,
    ).length
  const live = () => {
    const channels = new LiveChannels()
    return { channels, broadcast: channels.start('login') }
  }

  test(`are ${PER_NETWORK} of an IPv4 address, and others still get in`, () => {
    const { channels } = live()
    expect(watching(channels, TOTAL, () => '203.0.113.5')).toBe(PER_NETWORK)
    expect(watching(channels, 5, index => `203.0.113.${index + 10}`)).toBe(5)
  })

  test(`are ${PER_NETWORK} of an IPv6 /64 and ${PER_SITE} of a /48`, () => {
    const { channels } = live()
    expect(watching(channels, TOTAL, index => `2001:db8:1:1::${index.toString(16)}`)).toBe(PER_NETWORK)
    const networks = (index: number) => `2001:db8:1:${(index + 2).toString(16)}::1`
    expect(watching(channels, TOTAL, networks)).toBe(PER_SITE - PER_NETWORK)
    expect(watching(channels, 1, () => '2001:db8:2::1')).toBe(1)
  })

  test(`are ${TOTAL} in total, of this machine too, and none once the broadcast has ended`, () => {
    const { channels, broadcast } = live()
    for (let round = 0; round < 2; round++) {
      expect(watching(channels, TOTAL + 10, () => '127.0.0.1')).toBe(TOTAL)
      expect(watching(channels, 1, () => '203.0.113.5')).toBe(0)
      if (round === 0) {
        channels.end('login', broadcast)
        channels.start('login')
      }
    }
  })
})

onEachStore('viewers', { config }, current => {
  const publish = async (login: string): Promise<RtmpClient> => {
    const [{ id }] = await current().control('POST', '/users', { login })
    const [{ stream_key }] = await current().control('POST', `/channels/${id}/stream-key/rotate`, {})
    const client = await RtmpClient.connect(current().strand.rtmpPort ?? 0)
    expect(await client.publish(stream_key)).toBe('NetStream.Publish.Start')
    client.video(0, AVC.header)
    client.video(0, AVC.keyFrame())
    return client
  }

  test('a viewer of a channel that goes offline sees the end of its response', async () => {
    const client = await publish('going_offline')
    const path = '/live/going_offline.flv'
    const response = await fetch(current().url + path)
    client.close()
    expect((await response.bytes()).length).toBeGreaterThan(100)
    const after = await fetch(current().url + path)
    expect(after.status).toBe(404)
  })

  test('HEAD has no body, Range is ignored, other methods are 404, and all of them are for every origin', async () => {
    const client = await publish('methods')
    const ask = (method: string, headers: Record<string, string> = {}) =>
      fetch(`${current().url}/live/methods.flv`, {
        method,
        headers: { Origin: 'https://elsewhere.example', ...headers },
      })
    const head = await ask('HEAD', { Range: 'bytes=0-10' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    const ranged = await ask('GET', { Range: 'bytes=5-10, 20-' })
    expect([ranged.status, ranged.headers.get('content-range')]).toEqual([200, null])
    const reader = ranged.body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString('latin1', 0, 3)).toBe('FLV')
    await reader?.cancel()
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) expect((await ask(method)).status).toBe(404)
    const preflight = await ask('OPTIONS', {
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'range',
    })
    expect(preflight.status).toBe(204)
    for (const response of [head, ranged, preflight])
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-headers')).toBe('Range')
    expect((await fetch(`${current().url}/videos/1.flv`, { method: 'OPTIONS' })).status).toBe(204)
    client.close()
  })

  test('404 to paths that lead elsewhere', async () => {
    const { port } = new URL(current().url)
    for (const path of [
      '/live/../videos/1.flv',
      '/live/..%2f..%2fetc%2fpasswd.flv',
      '/live/%2e%2e/%2e%2e/etc/passwd',
      '/live/a%00.flv',
      '/live/a.flv/../b.flv',
      `/live/${'a'.repeat(5000)}.flv`,
      '/live//a.flv',
      '/live/__proto__.flv',
      '/live/constructor.flv',
      '/videos/../../../../etc/passwd',
      '/videos/..%2f..%2f..%2fetc%2fpasswd.flv',
      '/videos/%2e%2e%2f1.flv',
      '/videos/1.flv%00',
      '/videos/1.flv/..',
      '/videos/-1.flv',
      '/videos/1e3.flv',
      '/videos/99999999999999999999.flv',
      '/videos/9223372036854775807.flv',
    ])
      for (const method of ['GET', 'HEAD'])
        expect([path, await statusOf(Number(port), method, path)]).toEqual([path, 404])
  })
})

/** Of a path as it is: `fetch` would resolve the dots. */
function statusOf(port: number, method: string, path: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  let answer = ''
  const socket = connect(port, '127.0.0.1', () =>
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
  )
  socket.on('data', piece => {
    answer += piece.toString()
  })
  socket.on('error', () => undefined)
  socket.on('close', () => resolve(Number(answer.slice(9, 12))))
  return promise
}
