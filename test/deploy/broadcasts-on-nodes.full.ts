/** Broadcasts on nodes with embedded media servers: viewers, operators and encoders may come to any of them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { SILENT_MILLISECONDS } from '../../src/domain/publish-session.ts'
import { FakeNginx } from '../ingest/media-api.ts'
import { Node, startTwoNodes, type TwoNodes } from '../support/cli/nodes.ts'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import { AVC } from '../support/media/codecs.ts'
import { Encoders, hasEncoder } from '../support/media/encoder.ts'
import { HlsPlayer } from '../support/media/hls.ts'
import { readMp4 } from '../support/media/read-mp4.ts'
import { RtmpClient } from '../support/media/rtmp-client.ts'
import { PROXIES } from '../support/proxies/proxies.ts'
import { pathOfProxy, startProxy } from '../support/proxies/proxy-process.ts'
import { engines, executeIn } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'

/** Longer than a publisher may be silent, so that one that lost its node can return. */
const GRACE_SECONDS = SILENT_MILLISECONDS / 1000 + 3
/** For a busy machine. */
const SPARE_MILLISECONDS = 15_000

interface Channel {
  readonly id: string
  readonly login: string
  readonly key: string
}

interface Stream {
  readonly id: string
  readonly viewer_count: number
}

/** A publisher that sends a key frame ten times a second. */
class Broadcaster {
  readonly client: RtmpClient
  readonly #timer: Timer
  #timestamp = 0

  constructor(client: RtmpClient) {
    this.client = client
    client.video(0, AVC.header)
    this.#timer = setInterval(() => {
      this.#timestamp += 100
      client.video(this.#timestamp, AVC.keyFrame())
    }, 100)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.client.close()
  }
}

async function until<T>(ask: () => T | Promise<T>, isRight: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await ask()
    if (isRight(value)) return value
    await Bun.sleep(20)
  }
}

describe.skipIf(!engines.includes('postgres'))('broadcasts on several nodes', () => {
  let started: TwoNodes
  let one: Node
  let two: Node
  let users = 0
  const broadcasters: Broadcaster[] = []
  beforeAll(async () => {
    started = await startTwoNodes(
      {
        STRAND_RECONNECT_GRACE: String(GRACE_SECONDS),
        STRAND_DRAIN_SECONDS: '2',
        STRAND_RECORD: 'on',
      },
      { receive: true },
    )
    ;[one, two] = started.nodes
  })
  afterAll(async () => {
    for (const broadcaster of broadcasters) broadcaster.stop()
    await endAllProcesses()
    for (const cable of started.cables) await cable.close()
    await started.place.remove()
  })

  /** A third node, which records into the folder of the second. */
  const addNode = async (): Promise<Node> => {
    const port = await freePort()
    mkdirSync(join(started.place.folder, 'three'))
    symlinkSync(recordingsOf('two'), join(started.place.folder, 'three', 'recordings'))
    const node = new Node(port, await freePort(), {
      ...one.environment,
      STRAND_DATA: join(started.place.folder, 'three'),
      STRAND_RTMP_LISTEN: `127.0.0.1:${await freePort()}`,
      STRAND_MEDIA_URL: `http://127.0.0.1:${port}`,
    })
    await node.start()
    return node
  }
  const recordingsOf = (node: string) => join(started.place.folder, node, 'recordings')
  const newChannel = async (node = one): Promise<Channel> => {
    users += 1
    const login = `broadcaster_${users}`
    const { id } = await node.control('POST', '/users', { login })
    await node.control('PATCH', `/channels/${id}`, { vod_enabled: true })
    return { id, login, key: await newKey(node, id) }
  }
  const newKey = async (node: Node, id: string): Promise<string> =>
    (await node.control('POST', `/channels/${id}/stream-key/rotate`, { grace_seconds: 0 })).stream_key
  const publish = async (node: Node, key: string): Promise<Broadcaster | string | undefined> => {
    const client = await RtmpClient.connect(node.rtmpPort)
    const code = await client.publish(key)
    if (code !== 'NetStream.Publish.Start') return code
    const broadcaster = new Broadcaster(client)
    broadcasters.push(broadcaster)
    return broadcaster
  }
  const accepted = async (node: Node, key: string): Promise<Broadcaster> => {
    const broadcaster = await publish(node, key)
    if (broadcaster instanceof Broadcaster) return broadcaster
    throw new Error(`refused: ${broadcaster}`)
  }
  const streamOn = async (node: Node, { id }: Channel): Promise<Stream | undefined> => {
    const answer = await fetch(`${node.url}/helix/streams?user_id=${id}`)
    return ((await answer.json()) as { data: Stream[] }).data[0]
  }
  const isLiveOn = (node: Node, channel: Channel) =>
    until(
      () => streamOn(node, channel),
      row => row !== undefined,
    )
  const videosOf = ({ id }: Channel): Promise<readonly { id: string }[]> =>
    executeIn(started.place, `select id from videos where user_id = '${id}'`)
  const ask = (node: Node, path: string, init: RequestInit = {}) =>
    fetch(`${node.url}${path}`, { redirect: 'manual', ...init })

  /** The media playlist of a channel, as a node names it. */
  const placeOf = async (node: Node, { login }: Channel): Promise<string> =>
    (await (await ask(node, `/live/${login}.m3u8`)).text()).trim().split('\n').at(-1) ?? ''

  describe('a viewer', () => {
    test('200 on every node: the playlist names the node that has the broadcast; reads it there, and is counted once', async () => {
      const channel = await newChannel()
      const broadcaster = await accepted(one, channel.key)
      const path = `/live/${channel.login}.m3u8`
      for (const method of ['GET', 'HEAD']) {
        const headers = {
          Host: 'evil.example',
          Origin: 'https://player.example',
          'X-Forwarded-Host': 'evil.example',
        }
        const answer = await ask(two, `${path}?url=https://evil.example`, { method, headers })
        expect([answer.status, answer.headers.get('location')]).toEqual([200, null])
        expect(answer.headers.get('access-control-allow-origin')).toBe('*')
        expect(answer.headers.get('cache-control')).toBe('max-age=1')
      }
      expect((await ask(two, '/live/nobody_here.m3u8')).status).toBe(404)
      for (const node of [two, one]) {
        const player = await HlsPlayer.open(node.url, channel.login)
        expect(player.mediaUrl.origin).toBe(new URL(one.url).origin)
        const { segments } = await player.playlist()
        const bytes = await player.bytes(segments.find(({ uri }) => uri !== undefined)?.uri ?? '')
        const [track] = await readMp4(await player.bytes(segments[0]?.init ?? ''), bytes)
        expect(track?.samples.length).toBeGreaterThan(10)
        // The other node does not have it.
        expect((await ask(two, player.mediaUrl.pathname)).status).toBe(404)
      }
      // What the node has measured, the other one repeats.
      await until(
        async () => (await ask(two, path)).text(),
        text => text.includes('CODECS="avc1.42c00a"'),
      )
      for (const node of [one, two])
        await until(
          () => streamOn(node, channel),
          row => row?.viewer_count === 1,
        )
      broadcaster.stop()
    })

    test('307 to the node that has the recording, once; 206 of a range there, while the stream runs', async () => {
      const channel = await newChannel()
      const broadcaster = await accepted(one, channel.key)
      const [video] = await until(
        () => videosOf(channel),
        rows => rows.length === 1,
      )
      const playlist = await until(
        () => fetch(`${one.url}/videos/${video?.id}.m3u8`),
        ({ status }) => status === 200,
      )
      // What comes before is the time until the first frame, a gap.
      const [, size, at] = (await playlist.text()).match(/BYTERANGE:([0-9]+)@([0-9]+)\n[0-9]+\.mp4\n$/) ?? []
      expect(existsSync(join(recordingsOf('one'), `${video?.id}.mp4`))).toBe(true)
      for (const type of ['m3u8', 'mp4']) {
        const path = `/videos/${video?.id}.${type}`
        const answer = await ask(two, path)
        expect([answer.status, answer.headers.get('location')]).toEqual([
          307,
          `${one.url}${path}?redirected=1`,
        ])
        expect(answer.headers.get('access-control-allow-origin')).toBe('*')
        expect((await ask(two, `${path}?redirected=1`)).status).toBe(404)
      }
      const headers = { Range: `bytes=${at}-${Number(at) + Number(size) - 1}` }
      const range = await fetch(`${two.url}/videos/${video?.id}.mp4`, { headers })
      const bytes = Buffer.from(await range.arrayBuffer())
      expect([range.status, bytes.length, bytes.toString('latin1', 4, 8)]).toEqual([
        206,
        Number(size),
        'moof',
      ])
      broadcaster.stop()
    })
  })

  test.each(PROXIES.filter(name => pathOfProxy[name] !== undefined))(
    '200 behind %s, which passes the path of a node to that node only',
    async name => {
      const channel = await newChannel()
      const broadcaster = await accepted(one, channel.key)
      const proxy = await startProxy(name, [one.port, two.port])
      const player = await HlsPlayer.open(one.url, channel.login)
      await player.playlist()
      const path = player.mediaUrl.pathname
      const statusOf = async (url: string) =>
        (await fetch(url, { method: 'HEAD', redirect: 'manual', headers: { Connection: 'close' } })).status
      expect(await statusOf(`${proxy.url}/node1${path}`)).toBe(200)
      expect(await statusOf(`${proxy.url}/node2${path}`)).toBe(404)
      expect(await statusOf(`${proxy.url}/node1/helix/streams`)).toBe(404)
      const behind = new HlsPlayer(new URL(`/node1${path}`, proxy.url))
      const { segments } = await behind.playlist()
      const last = segments.findLast(({ uri }) => uri !== undefined)
      expect((await behind.playlist(`?_HLS_msn=${(last?.sequence ?? 0) + 1}`)).hasEnded).toBe(false)
      broadcaster.stop()
      await proxy.stop()
    },
  )

  describe('through the other node', () => {
    test('a kick disconnects the publisher', async () => {
      const channel = await newChannel()
      const { client } = await accepted(one, channel.key)
      expect(client.isClosed).toBe(false)
      await two.control('DELETE', `/channels/${channel.id}/publisher`)
      await client.closed()
    })

    test('a second publisher takes over: the first is disconnected, the stream continues', async () => {
      const channel = await newChannel()
      const first = await accepted(one, channel.key)
      expect(await publish(two, channel.key)).toBe('NetStream.Publish.BadName')
      await one.control('PATCH', `/channels/${channel.id}`, { second_publisher: 'take_over' })
      const stream = await isLiveOn(two, channel)
      const second = await accepted(two, channel.key)
      await first.client.closed()
      expect((await streamOn(two, channel))?.id).toBe(stream?.id ?? '')
      await until(
        () => placeOf(one, channel),
        place => place.startsWith(two.url),
      )
      second.stop()
    })

    test('a rotated key is refused at once, and the new one accepted', async () => {
      const channel = await newChannel()
      const first = await accepted(one, channel.key)
      const key = await newKey(two, channel.id)
      first.stop()
      expect(await publish(one, channel.key)).toBe('NetStream.Publish.BadName')
      await until(
        () => publish(one, key),
        broadcaster => broadcaster instanceof Broadcaster,
      )
    })
  })

  test('SIGTERM: encoders and viewers are released before the node drains; the stream continues on the other node', async () => {
    const channel = await newChannel()
    const { client } = await accepted(one, channel.key)
    const stream = await isLiveOn(two, channel)
    const player = await HlsPlayer.open(one.url, channel.login)
    const { segments } = await player.playlist()
    const last = segments.findLast(({ uri }) => uri !== undefined)
    const waiting = player.playlist(`?_HLS_msn=${(last?.sequence ?? 0) + 1}`)
    const stopped = one.stop()
    await client.closed()
    // Ends without an error.
    expect((await waiting).segments.length).toBeGreaterThan(0)
    const second = await until(
      () => publish(two, channel.key),
      broadcaster => broadcaster instanceof Broadcaster,
    )
    // The node that stops still answers.
    expect(await placeOf(one, channel)).toContain(two.url)
    expect(await stopped).toBe(0)
    expect((await streamOn(two, channel))?.id).toBe(stream?.id ?? '')
    await one.start()
    expect(await isLiveOn(one, channel)).toMatchObject({ id: stream?.id ?? '' })
    if (second instanceof Broadcaster) second.stop()
  })

  test.skipIf(!hasEncoder || pathOfProxy.haproxy === undefined)(
    'a restart of each node in turn, behind HAProxy: an encoder that reconnects has one stream and one video',
    async () => {
      const channel = await newChannel()
      const haproxy = await startProxy('haproxy', [one.port, two.port], {
        rtmpPorts: [one.rtmpPort, two.rtmpPort],
      })
      const encoders = new Encoders()
      await encoders.prepare()
      let isOver = false
      const encoding = (async () => {
        while (!isOver) {
          await encoders.publish(`rtmp://127.0.0.1:${haproxy.rtmpPort}/live/${channel.key}`).exited
          await Bun.sleep(100)
        }
      })()
      const stream = await isLiveOn(two, channel)
      for (const [node, other] of [
        [one, two],
        [two, one],
      ] as const) {
        await node.stop()
        await until(
          async () => (await ask(other, `/live/${channel.login}.m3u8`, { method: 'HEAD' })).status,
          status => status === 200,
        )
        await node.start()
      }
      for (const node of [one, two])
        expect(await isLiveOn(node, channel)).toMatchObject({ id: stream?.id ?? '' })
      expect(await videosOf(channel)).toHaveLength(1)
      isOver = true
      await encoders.remove()
      await encoding
      await haproxy.stop()
    },
  )

  test('SIGKILL and SIGSTOP: streams end after the grace or move with their encoder, and nodes that return change nothing', async () => {
    const nginx = new FakeNginx()
    const [left, moved, hung, polled] = [
      await newChannel(),
      await newChannel(),
      await newChannel(),
      await newChannel(),
    ]
    nginx.publishers = [{ session: '1', login: polled.login }]
    const third = await addNode()
    // The first node reconciles, because no other one can.
    for (const node of [two, third]) node.pause('SIGSTOP')
    await one.control('PUT', '/media-servers/edge', { adapter: 'nginx-rtmp', api_url: nginx.url })
    const channels = [moved, hung, polled]
    await isLiveOn(one, polled)
    for (const node of [two, third]) node.pause('SIGCONT')
    await accepted(third, left.key)
    await accepted(third, moved.key)
    const first = await accepted(one, hung.key)
    const streams = await Promise.all(channels.map(channel => isLiveOn(two, channel)))
    await isLiveOn(two, left)

    const [video] = await videosOf(moved)
    await until(
      () => readdirSync(recordingsOf('two')),
      names => names.includes(`${video?.id}.mp4`),
    )
    one.pause('SIGSTOP')
    await third.stop('SIGKILL')
    const [lostAt, polls] = [performance.now(), nginx.polls]
    const returned = await Promise.all(
      [moved, hung].map(({ key }) =>
        until(
          () => publish(two, key),
          broadcaster => broadcaster instanceof Broadcaster,
        ),
      ),
    )
    expect(performance.now() - lostAt).toBeLessThan(SILENT_MILLISECONDS + SPARE_MILLISECONDS)
    expect(nginx.polls).toBeGreaterThan(polls)
    await until(
      () => streamOn(two, left),
      row => row === undefined,
    )
    expect(performance.now() - lostAt).toBeLessThan(GRACE_SECONDS * 1000 + SPARE_MILLISECONDS)

    one.pause('SIGCONT')
    await third.start()
    await first.client.closed()
    const resumed = nginx.polls
    await until(
      () => nginx.polls,
      now => now > resumed,
    )
    for (const node of [one, two, third])
      expect(await Promise.all(channels.map(channel => streamOn(node, channel)))).toMatchObject(
        streams.map(stream => ({ id: stream?.id ?? '' })),
      )
    for (const channel of channels) expect(await videosOf(channel)).toHaveLength(1)
    for (const broadcaster of returned) {
      if (!(broadcaster instanceof Broadcaster)) continue
      expect(broadcaster.client.isClosed).toBe(false)
      broadcaster.stop()
    }
    // A shared folder: one recording, from before the move to its end, and every node that has the folder serves it.
    for (const node of [two, third])
      await until(
        () => ask(node, `/videos/${video?.id}.mp4`, { method: 'HEAD' }),
        ({ status }) => status === 200,
      )
    const [recorded] = await readMp4(readFileSync(join(recordingsOf('two'), `${video?.id}.mp4`)))
    expect(recorded?.samples[0]?.seconds).toBeLessThan(2)
    expect(recorded?.samples.at(-1)?.seconds).toBeGreaterThan(SILENT_MILLISECONDS / 1000 - 6)
    await third.stop()
    await nginx.stop()
  }, 120_000)

  test('PostgreSQL away for longer than a publisher may be silent: broadcasts continue, and known keys are accepted', async () => {
    const [running, returning] = [await newChannel(), await newChannel()]
    const broadcaster = await accepted(one, running.key)
    const before = await accepted(two, returning.key)
    const streams = [await isLiveOn(one, running), await isLiveOn(one, returning)]
    const player = await HlsPlayer.open(two.url, running.login)
    const viewer = player.segments()
    for (const cable of started.cables) cable.cut()
    const cutAt = performance.now()
    before.stop()
    expect(await publish(two, 'live_1_thisIsNotAStreamKeyOfAnyChannel')).toBe('NetStream.Publish.BadName')
    const after = await accepted(two, returning.key)
    expect((await ask(two, `/live/${returning.login}.m3u8`, { method: 'HEAD' })).status).toBe(200)
    while (performance.now() - cutAt < SILENT_MILLISECONDS + 1000)
      expect((await viewer.next()).done).toBe(false)
    for (const cable of started.cables) cable.mend()
    await until(
      async () => (await fetch(`${two.url}/readyz`)).ok && (await fetch(`${one.url}/readyz`)).ok,
      isReady => isReady,
    )
    // Long enough for what would end them.
    for (const end = performance.now() + 2500; performance.now() < end; )
      expect((await viewer.next()).done).toBe(false)
    expect([broadcaster.client.isClosed, after.client.isClosed]).toEqual([false, false])
    expect([await streamOn(one, running), await streamOn(one, returning)]).toMatchObject(
      streams.map(stream => ({ id: stream?.id ?? '' })),
    )
    await until(
      () => placeOf(one, returning),
      place => place.startsWith(two.url),
    )
    broadcaster.stop()
    after.stop()
  })
})
