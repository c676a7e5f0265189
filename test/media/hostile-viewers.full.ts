/** Viewers that want more than to watch (D-258). */
import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { listen } from '../../src/http/listen.ts'
import { RequestContext } from '../../src/http/request-context.ts'
import { answerLive } from '../../src/http/responses/live-response.ts'
import { LiveChannels } from '../../src/media/live-channels.ts'
import { AVC, video } from '../support/media/codecs.ts'
import { HlsPlayer, TestPublisher } from '../support/media/hls.ts'
import { onEachStore } from '../support/server/each-store.ts'

const [TOTAL, PER_NETWORK, PER_SITE] = [5000, 1000, 2000]
const config = { rtmpListen: { host: '127.0.0.1', port: 0 }, reconnectGraceSeconds: 1 }

describe('requests that wait', () => {
  /** How many of these may wait, one after another, and how each leaves. */
  const waiting = (channels: LiveChannels, count: number, addressOf: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => channels.takePlace(addressOf(index))).filter(
      each => each !== undefined,
    )

  test(`are ${PER_NETWORK} of an IPv4 address, and others still get in`, () => {
    const channels = new LiveChannels()
    expect(waiting(channels, TOTAL, () => '203.0.113.5')).toHaveLength(PER_NETWORK)
    expect(waiting(channels, 5, index => `203.0.113.${index + 10}`)).toHaveLength(5)
  })

  test(`are ${PER_NETWORK} of an IPv6 /64 and ${PER_SITE} of a /48`, () => {
    const channels = new LiveChannels()
    expect(waiting(channels, TOTAL, index => `2001:db8:1:1::${index.toString(16)}`)).toHaveLength(PER_NETWORK)
    const networks = (index: number) => `2001:db8:1:${(index + 2).toString(16)}::1`
    expect(waiting(channels, TOTAL, networks)).toHaveLength(PER_SITE - PER_NETWORK)
    expect(waiting(channels, 1, () => '2001:db8:2::1')).toHaveLength(1)
  })

  test(`are ${TOTAL} in total, of this machine too, until some leave`, () => {
    const channels = new LiveChannels()
    const places = waiting(channels, TOTAL + 10, () => '127.0.0.1')
    expect(places).toHaveLength(TOTAL)
    expect(waiting(channels, 1, () => '203.0.113.5')).toHaveLength(0)
    places[0]?.()
    expect(waiting(channels, 2, () => '203.0.113.5')).toHaveLength(1)
  })
})

/** The answers to requests for one broadcast, without the rest of a server. */
function serveBroadcast(options: { idleSeconds?: number } = {}) {
  const channels = new LiveChannels(options)
  const broadcast = channels.start('otter', { id: '1', user_id: '1', onTooLarge: () => undefined })
  const server = listen(
    '127.0.0.1',
    0,
    async (request, peer) => {
      const sources = { liveChannels: channels, services: {} as never }
      const answer = await answerLive(sources, new RequestContext(request, peer))
      return answer instanceof Response ? answer : new Response(null, { status: 404 })
    },
    { sharesPort: false, sockets: () => undefined },
  )
  /** Publishes a segment of 15 MB, which is more than sockets take, and the start of the next. */
  const publish = () => {
    void broadcast.packager.variant({ take: () => () => undefined })
    broadcast.publish(video(0, AVC.header))
    for (let frame = 0; frame <= 60; frame++)
      broadcast.publish(video(frame * 40, frame % 50 === 0 ? AVC.keyFrame(300_000) : AVC.frame(300_000)))
    expect(broadcast.packager.segment(0)?.size).toBeGreaterThan(15_000_000)
  }
  /** A client that asks for the first segment, and reads as much of it as `drink` lets it. */
  const reader = (every: number | undefined) => {
    const socket = connect(server.port, '127.0.0.1', () =>
      socket.write('GET /live/otter/1/0.m4s HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    )
    const state = { bytes: 0 }
    socket.on('error', () => undefined).pause()
    socket.on('data', piece => {
      state.bytes += piece.length
      socket.pause()
    })
    const sips = every === undefined ? undefined : setInterval(() => socket.resume(), every)
    const leave = () => {
      clearInterval(sips)
      socket.destroy()
    }
    return { state, leave, isConnected: () => isConnected(socket.localPort ?? 0) }
  }
  const stop = async () => {
    channels.endAll()
    await server.stop()
  }
  return { broadcast, publish, reader, stop }
}

/** Only one that reads sees that it was disconnected. */
async function untilDisconnected(reader: { isConnected(): Promise<boolean> }): Promise<void> {
  while (!(await reader.isConnected())) await Bun.sleep(1)
  while (await reader.isConnected()) await Bun.sleep(100)
}

describe('clients that take', () => {
  test.concurrent('nothing are disconnected after 20 s, here 8; one that takes a little now and then is not', async () => {
    expect(new LiveChannels().idleSeconds).toBe(20)
    const { publish, reader, stop } = serveBroadcast({ idleSeconds: 8 })
    publish()
    const [idle, slow] = [reader(undefined), reader(300)]
    await untilDisconnected(idle)
    expect([await slow.isConnected(), slow.state.bytes > 0]).toEqual([true, true])
    for (const each of [idle, slow]) each.leave()
    await stop()
  }, 30_000)

  test.concurrent('a segment that has left the window are disconnected, however much they take: nothing is kept for them', async () => {
    const { broadcast, publish, reader, stop } = serveBroadcast()
    publish()
    const slow = reader(300)
    while (slow.state.bytes === 0) await Bun.sleep(1)
    broadcast.packager.close()
    await untilDisconnected(slow)
    expect(slow.state.bytes).toBeLessThan(15_000_000)
    slow.leave()
    await stop()
  }, 30_000)
})

onEachStore('viewers', { config }, current => {
  const publish = async (login: string) => {
    const [{ id }] = await current().control('POST', '/users', { login })
    const [{ stream_key: key }] = await current().control('POST', `/channels/${id}/stream-key/rotate`, {})
    const publisher = await TestPublisher.start({ rtmpPort: current().strand.rtmpPort, key })
    publisher.send(0.2)
    return { publisher, player: await HlsPlayer.open(current().url, login) }
  }

  test('that hang up while they wait leave their places', async () => {
    const { publisher, player } = await publish('hanging_up')
    publisher.send(2.4)
    await player.playlistWith(0)
    const waiting = async () => {
      const metrics = await (await fetch(`${current().url}/metrics`)).text()
      return Number(/^strand_media_waiting_requests (\d+)$/m.exec(metrics)?.[1])
    }
    const leaving = Array.from({ length: 20 }, () => {
      const controller = new AbortController()
      void player.ask('?_HLS_msn=2', { signal: controller.signal }).catch(() => undefined)
      return controller
    })
    while ((await waiting()) < 20) await Bun.sleep(10)
    for (const each of leaving) each.abort()
    while ((await waiting()) > 0) await Bun.sleep(10)
    publisher.close()
  })

  test('404 to paths that lead elsewhere', async () => {
    const { port } = new URL(current().url)
    for (const path of [
      '/live/../videos/1.mp4',
      '/live/..%2f..%2fetc%2fpasswd.m3u8',
      '/live/%2e%2e/%2e%2e/etc/passwd',
      '/live/a%00.m3u8',
      '/live/a.m3u8/../b.m3u8',
      `/live/${'a'.repeat(5000)}.m3u8`,
      '/live//a.m3u8',
      '/live/__proto__.m3u8',
      '/live/constructor.m3u8',
      '/live/a/b/../c/index.m3u8',
      '/live/a/__proto__/index.m3u8',
      '/live/a/constructor/0.m4s',
      '/live/a/b/..%2findex.m3u8',
      `/live/a/b/${'0'.repeat(30)}.m4s`,
      '/live/a.flv',
      '/videos/1.flv',
      '/videos/../../../../etc/passwd',
      '/videos/..%2f..%2f..%2fetc%2fpasswd.mp4',
      '/videos/%2e%2e%2f1.mp4',
      '/videos/1.mp4%00',
      '/videos/1.mp4/..',
      '/videos/-1.mp4',
      '/videos/1e3.mp4',
      '/videos/99999999999999999999.mp4',
      '/videos/9223372036854775807.mp4',
    ])
      for (const method of ['GET', 'HEAD'])
        expect([path, await statusOf(Number(port), method, path)]).toEqual([path, 404])
    expect((await fetch(`${current().url}/videos/1.mp4`, { method: 'OPTIONS' })).status).toBe(204)
  })
})

/** Whether the server still has the other end of a connection from this port, by the list of the system. */
async function isConnected(localPort: number): Promise<boolean> {
  const ESTABLISHED = '01'
  const port = localPort.toString(16).toUpperCase().padStart(4, '0')
  const lists = await Promise.all(['tcp', 'tcp6'].map(name => Bun.file(`/proc/net/${name}`).text()))
  return lists.some(list =>
    list.split('\n').some(line => {
      const [, , remote = '', state] = line.trim().split(/\s+/)
      return remote.endsWith(`:${port}`) && state === ESTABLISHED
    }),
  )
}

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
