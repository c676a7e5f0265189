/** A real `strand serve` with its embedded media server, and those who watch its broadcasts. */
import { expect } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PublicVideo } from '../../../src/contract/resources/video.ts'
import { assertDefined } from '../../../src/kit/assert-defined.ts'
import { STORE_WAIT } from '../cli/nodes.ts'
import { type Environment, StrandProcess } from '../cli/strand-process.ts'
import { Canaries, contentsOf } from '../server/canaries.ts'
import { createStorePlace, type EngineName, type StorePlace } from '../server.ts'
import { freePort } from '../store/postgres.ts'
import { pictureAt } from './encoder.ts'
import { HlsPlayer } from './hls.ts'
import { readMp4 } from './read-mp4.ts'

const TOKEN = 'an-operator-token-for-these-tests'

const PAGES = ['/', '/metrics', '/docs', '/login', '/account', '/control/audit', '/live/otter_1001.m3u8']

const PRLIMIT = Bun.which('prlimit')
export const hasLimits = PRLIMIT !== null

/** A channel with its stream key, and a token of its owner. */
export interface BroadcastChannel {
  readonly id: string
  readonly login: string
  readonly key: string
  readonly token: string
}

export interface LiveRow {
  readonly id: string
  readonly viewer_count: number
  readonly started_at: string
}

/** Asks until the answer is right; the time limit is that of the test. */
export async function until<T>(ask: () => T | Promise<T>, isRight: (value: T) => unknown): Promise<T> {
  for (;;) {
    const value = await ask()
    if (await isRight(value)) return value
    await Bun.sleep(25)
  }
}

export class BroadcastServer {
  readonly place: StorePlace
  /** Every key that went over the wire. */
  readonly canaries = new Canaries()
  readonly #environment: Environment
  readonly #port: number
  readonly #rtmpPort: number
  #process: StrandProcess
  #clientId = ''
  #channels = 0
  #pastLogs = ''

  private constructor(place: StorePlace, ports: readonly [number, number], environment: Environment) {
    this.place = place
    ;[this.#port, this.#rtmpPort] = ports
    this.#environment = {
      ...STORE_WAIT,
      STRAND_DATA: place.folder,
      STRAND_OPERATOR_TOKEN: TOKEN,
      STRAND_LISTEN: `127.0.0.1:${this.#port}`,
      STRAND_RTMP_LISTEN: `127.0.0.1:${this.#rtmpPort}`,
      STRAND_RECORD: 'on',
      STRAND_LOG: 'debug',
      STRAND_LOG_FORMAT: 'json',
      STRAND_RATE_ANONYMOUS: '0',
      ...(place.databaseUrl !== undefined && { DATABASE_URL: place.databaseUrl }),
      ...environment,
    }
    this.#process = new StrandProcess(['serve'], { environment: this.#environment })
  }

  /** `settingsFor` may prepare the data folder. */
  static async start(
    engine: EngineName,
    settingsFor: (place: StorePlace) => Environment | Promise<Environment>,
  ): Promise<BroadcastServer> {
    const place = await createStorePlace(engine)
    const ports = [await freePort(), await freePort()] as const
    const server = new BroadcastServer(place, ports, await settingsFor(place))
    await server.#process.serving()
    const client = await server.control<{ id: string }>('POST', '/clients', { name: 'Encoder tests' })
    server.#clientId = client.id
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Everything it logged, before restarts too. */
  get log(): string {
    return this.#pastLogs + this.#process.stderr + this.#process.stdout
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#process.end(signal)
  }

  async restart(): Promise<void> {
    this.#pastLogs = this.log
    this.#process = new StrandProcess(['serve'], { environment: this.#environment })
    await this.#process.serving()
  }

  async remove(): Promise<void> {
    await this.#process.end('SIGKILL')
    await this.place.remove()
  }

  /** From now on no file of the process can become larger, as on a full disk. */
  limitFiles(bytes: number | 'unlimited'): void {
    const { exitCode } = Bun.spawnSync([
      PRLIMIT ?? '',
      '--pid',
      String(this.#process.pid),
      `--fsize=${bytes}:`,
    ])
    expect(exitCode).toBe(0)
  }

  /** Where an encoder publishes under this name. */
  ingestUrl(name: string): string {
    return `rtmp://127.0.0.1:${this.#rtmpPort}/live/${name}`
  }

  async control<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.url}/control${path}`, {
      method,
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
    this.canaries.note(text)
    return (text === '' ? undefined : JSON.parse(text).data[0]) as T
  }

  async newChannel(settings: object = {}): Promise<BroadcastChannel> {
    this.#channels += 1
    const id = String(1000 + this.#channels)
    const login = `otter_${id}`
    await this.control('PUT', `/users/${id}`, { login })
    await this.control('PATCH', `/channels/${id}`, settings)
    const { stream_key: key } = await this.control<{ stream_key: string }>(
      'GET',
      `/channels/${id}/stream-key`,
    )
    const scopes = ['channel:manage:broadcast']
    const token = { client_id: this.#clientId, user_id: id, scopes }
    const { access_token } = await this.control<{ access_token: string }>('POST', '/tokens', token)
    return { id, login, key, token: access_token }
  }

  async live({ id }: BroadcastChannel): Promise<LiveRow | undefined> {
    const response = await fetch(`${this.url}/helix/streams?user_id=${id}`)
    return ((await response.json()) as { data: LiveRow[] }).data[0]
  }

  async untilLive(channel: BroadcastChannel): Promise<LiveRow> {
    const row = await until(
      () => this.live(channel),
      stream => stream !== undefined,
    )
    return row as LiveRow
  }

  async untilOffline(channel: BroadcastChannel): Promise<void> {
    await until(
      () => this.live(channel),
      stream => stream === undefined,
    )
  }

  /** The only video of a channel. */
  async video({ id, token }: BroadcastChannel): Promise<PublicVideo> {
    const headers = this.#headersOf(token)
    const response = await fetch(`${this.url}/helix/videos?user_id=${id}`, { headers })
    const { data } = (await response.json()) as { data: PublicVideo[] }
    expect(data.length).toBe(1)
    return data[0] as PublicVideo
  }

  recordingUrl({ id }: PublicVideo): string {
    return `${this.url}/videos/${id}.mp4`
  }

  /** Creates a marker now; returns its position in seconds. */
  async mark({ id, token }: BroadcastChannel): Promise<number> {
    const response = await fetch(`${this.url}/helix/streams/markers`, {
      method: 'POST',
      headers: { ...this.#headersOf(token), 'Content-Type': 'application/json' },
      body: JSON.stringify({ user_id: id }),
    })
    expect(response.status).toBe(200)
    return (
      ((await response.json()) as { data: { position_seconds: number }[] }).data[0]?.position_seconds ?? -1
    )
  }

  async watch({ login }: BroadcastChannel): Promise<BroadcastViewer> {
    return new BroadcastViewer(await HlsPlayer.open(this.url, login))
  }

  /** Whether the media server has a publisher of the channel now. */
  async hasPublisher({ login }: BroadcastChannel): Promise<boolean> {
    return (await fetch(`${this.url}/live/${login}.m3u8`, { method: 'HEAD' })).ok
  }

  /** All that it wrote and shows: its log, pages, metrics, audit log, store, files and what the process list has of it. */
  async traces(): Promise<string[]> {
    const headers = { Authorization: `Bearer ${TOKEN}` }
    const shown = PAGES.map(path => fetch(this.url + path, { headers }).then(response => response.text()))
    const names = readdirSync(this.place.folder, { recursive: true, encoding: 'utf8' })
    const recordings = names
      .filter(name => name.endsWith('.mp4'))
      .map(name => readFileSync(join(this.place.folder, name), 'latin1'))
    const videos = names.flatMap(name => /([0-9]+)\.mp4$/.exec(name)?.[1] ?? [])
    shown.push(...videos.map(id => fetch(`${this.url}/videos/${id}`).then(response => response.text())))
    const listed = ['cmdline', 'environ'].map(name =>
      readFileSync(`/proc/${this.#process.pid}/${name}`, 'latin1'),
    )
    const stored = await contentsOf(this.place)
    return [this.log, stored, ...names, ...recordings, ...listed, ...(await Promise.all(shown))]
  }

  #headersOf(token: string): Record<string, string> {
    return { Authorization: `Bearer ${token}`, 'Client-Id': this.#clientId }
  }
}

/** Reads a broadcast as HLS, and knows which key frame was published when. */
export class BroadcastViewer {
  #hasLeft = false
  /** The last key frame, and when it was published. */
  keyFrame: { readonly payload: Buffer; readonly at: number } | undefined

  constructor(player: HlsPlayer) {
    void this.#read(player).catch(() => undefined)
  }

  leave(): void {
    this.#hasLeft = true
  }

  async #read(player: HlsPlayer): Promise<void> {
    for await (const { init, bytes, startsAt } of player.segments()) {
      if (this.#hasLeft) return
      // A segment begins with a key frame.
      const [video] = await readMp4(await player.bytes(init), bytes)
      const [first] = video?.samples ?? []
      const at = performance.now() - (Date.now() - startsAt)
      if (first !== undefined) this.keyFrame = { payload: Buffer.from(first.data), at }
    }
  }
}

/** The key frames of a recording. */
export async function readKeyFrames(
  file: Uint8Array,
): Promise<{ readonly milliseconds: number; readonly payload: Buffer }[]> {
  const [video] = await readMp4(file)
  return (video?.samples ?? [])
    .filter(({ isKey }) => isKey)
    .map(({ seconds, data }) => ({ milliseconds: seconds * 1000, payload: Buffer.from(data) }))
}

/** The file of a recording, once its stream has ended. */
export async function untilRecorded(url: string): Promise<Uint8Array> {
  const response = await until(
    () => fetch(url),
    each => each.ok,
  )
  return response.bytes()
}

/**
 * Seeking leads to the same picture as reading all that comes before: a key frame in the middle. The position is just before
 * it, because ffmpeg starts at the key frame before a position or at the next one, also with an index of its files.
 */
export async function expectSeekable(url: string, start: number): Promise<void> {
  const frames = await readKeyFrames(await untilRecorded(url))
  const { milliseconds } = assertDefined(frames[frames.length >> 1], 'a key frame')
  const position = milliseconds / 1000 - start - 0.05
  const [sought, read] = [await pictureAt(url, position, 'seek'), await pictureAt(url, position, 'read')]
  expect([sought.length, sought.equals(read)]).toEqual([64 * 48 * 3, true])
}
