/** The embedded media server while the store does not answer. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StreamKeys } from '../../src/auth/stream-keys.ts'
import { EmbeddedIngest } from '../../src/ingest/embedded.ts'
import { MayPublish } from '../../src/ingest/may-publish.ts'
import { openEmbeddedMedia } from '../../src/ingest/open-embedded.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { Lifetime } from '../../src/kit/lifetime.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { MovableClock } from '../../src/kit/time/clock.ts'
import { LiveChannels } from '../../src/media/live-channels.ts'
import { Recordings } from '../../src/media/recording/recordings.ts'
import { Unavailable } from '../../src/store/errors.ts'
import type { Store } from '../../src/store/store.ts'
import { AVC, CONFIGS } from '../support/media/codecs.ts'
import { RtmpClient } from '../support/media/rtmp-client.ts'
import { engines } from '../support/server.ts'
import { openTestStore } from '../support/store/stores.ts'

/** The name of the node is its address. */
const NODE = 'http://node.example'
const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const STARTED = 'NetStream.Publish.Start'
const REFUSED = 'NetStream.Publish.BadName'

describe.each([...engines])('the embedded media server without its store, on %s', engine => {
  const folder = mkdtempSync(join(tmpdir(), 'strand-outage-'))
  const streamKeys = new StreamKeys(new KeyRing([{ id: 'k', bytes: new Uint8Array(32) }]))
  const clock = new MovableClock({ at: NOW, running: true })
  const logLines: string[] = []
  const log = createLog({ level: 'info', readable: false, write: line => logLines.push(line) })
  let real: Store
  let close: () => Promise<void>
  let isAway = false
  let users = 0
  let lifetime: Lifetime
  beforeAll(async () => {
    ;({ store: real, close } = await openTestStore(engine))
  })
  afterAll(async () => {
    await close()
    rmSync(folder, { recursive: true })
  })
  beforeEach(() => {
    lifetime = new Lifetime()
  })
  afterEach(async () => {
    isAway = false
    await lifetime.close()
  })

  const failing = <T extends object>(part: T): T =>
    new Proxy(part, {
      get: (target, name) =>
        isAway ? () => Promise.reject(new Unavailable('away')) : target[name as keyof T],
    })
  const failingStore = (): Store => ({
    ...real,
    commands: failing(real.commands),
    streamKeys: failing(real.streamKeys),
    mediaServers: failing(real.mediaServers),
  })
  const start = async () => {
    const store = failingStore()
    const channels = new LiveChannels()
    const recordings = new Recordings({ folder, maxBytes: 1e9 })
    const services = { store, streamKeys, clock, log, mediaUrl: NODE }
    const listen = { host: '127.0.0.1', port: 0 }
    const options = { listen, services, channels, recordings, thumbnails: undefined, isProxy: () => false }
    const { port } = await openEmbeddedMedia(options, lifetime)
    return { port, channels }
  }
  const newChannel = async () => {
    users += 1
    const [id, login] = [String(users), `broadcaster_${users}`]
    const { key, stored } = streamKeys.mint(id, 1)
    await real.commands.putUser({ id, login, stream_key: stored, now: NOW })
    return { id, login, key }
  }
  const publish = async (port: number, key: string) => {
    const client = await RtmpClient.connect(port)
    return { client, code: await client.publish(key) }
  }
  const until = async <T>(ask: () => T | Promise<T>, isRight: (value: T) => boolean): Promise<T> => {
    for (;;) {
      const value = await ask()
      if (isRight(value)) return value
      await Bun.sleep(10)
    }
  }

  test('starts, and ends the sessions of its past when the store answers', async () => {
    const { id } = await newChannel()
    const server = engine === 'postgres' ? NODE : 'local'
    const session = { adapter: 'embedded', server, session: 'past' }
    const ids = { stream_id: '41', video_id: '21', watch_url: null }
    await real.commands.openSession({ ...session, user_id: id, ...ids, now: clock.now() - 1000 })
    isAway = true
    await start()
    expect(await real.mediaServers.liveSessionOf(id)).toMatchObject({ session: 'past' })
    isAway = false
    await until(
      () => real.mediaServers.liveSessionOf(id),
      live => live === undefined,
    )
  })

  test('accepts a key that was valid before, one publisher for a channel; stream and recording follow', async () => {
    const { port, channels } = await start()
    const { id, login, key } = await newChannel()
    const stranger = await newChannel()
    const before = await publish(port, key)
    expect(before.code).toBe(STARTED)
    const stream = await real.streams.of(id)
    isAway = true
    before.client.close()
    await until(
      () => channels.find(login),
      found => found === undefined,
    )
    expect((await publish(port, stranger.key)).code).toBe(REFUSED)
    const { client, code } = await publish(port, key)
    expect(code).toBe(STARTED)
    expect((await publish(port, key)).code).toBe(REFUSED)
    client.video(50_000, AVC.header)
    client.video(50_000, AVC.keyFrame())
    await until(
      () => channels.find(login),
      found => found !== undefined,
    )
    isAway = false
    await until(
      () => logLines.filter(line => line.includes('"broadcast started"') && line.includes(`"${id}"`)).length,
      count => count === 2,
    )
    expect((await real.streams.of(id))?.id).toBe(stream?.id ?? '')
    expect((await real.mediaServers.liveSessionOf(id))?.adapter).toBe('embedded')
    const [video] = (await real.videos.page({ user_id: id }, { first: 1, direction: 'forward' })).rows
    const file = join(folder, `${video?.id}.mp4`)
    let timestamp = 53_000
    // What decoders need first, then what came after the outage.
    const started = await until(
      () => {
        timestamp += 100
        client.video(timestamp, AVC.keyFrame(200))
        return existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
      },
      bytes => bytes.includes('moof'),
    )
    client.close()
    expect(started.indexOf(CONFIGS.avc)).toBeWithin(1, started.indexOf('moof'))
  })

  test('accepts one of two publishers of a channel that arrive at the same time', async () => {
    const services = { store: failingStore(), streamKeys, clock, log }
    const ingest = new EmbeddedIngest({
      ...services,
      mayPublish: new MayPublish(services),
      channels: new LiveChannels(),
      recordings: undefined,
      thumbnails: undefined,
      node: NODE,
      watchUrl: null,
    })
    const { key } = await newChannel()
    const authorize = async () => {
      const grant = await ingest.authorize({ name: key, address: undefined }, () => undefined)
      return typeof grant === 'string' ? undefined : grant
    }
    const before = await authorize()
    before?.end()
    await ingest.settle()
    isAway = true
    const grants = await Promise.all([authorize(), authorize()])
    expect(grants.filter(grant => grant !== undefined)).toHaveLength(1)
    isAway = false
    for (const grant of grants) grant?.end()
    await ingest.settle()
  })

  test('disconnects a publisher whose channel has another one when the store answers', async () => {
    const { port } = await start()
    const { id, key } = await newChannel()
    const before = await publish(port, key)
    expect(before.code).toBe(STARTED)
    before.client.close()
    await until(
      () => real.mediaServers.liveSessionOf(id),
      live => live === undefined,
    )
    isAway = true
    const { client, code } = await publish(port, key)
    expect(code).toBe(STARTED)
    const elsewhere = { adapter: 'embedded', server: 'another', session: 'first' }
    const ids = { stream_id: '42', video_id: '22', watch_url: null }
    await real.commands.openSession({ ...elsewhere, user_id: id, ...ids, now: clock.now() })
    isAway = false
    await client.closed()
    expect(await real.mediaServers.liveSessionOf(id)).toEqual(elsewhere)
  })
})
