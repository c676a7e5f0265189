/** A Strand process with channels to broadcast on, for tests with real media servers and encoders. */

import { type Environment, StrandProcess } from '../cli/strand-process.ts'
import { createStorePlace, type engines, type StorePlace } from '../server.ts'
import { freePort } from '../store/postgres.ts'

const TOKEN = 'an-operator-token-for-these-tests'

export interface LiveStream {
  readonly user_id: string
  readonly id: string
  readonly viewer_count: number
}

export interface LiveVideo {
  readonly id: string
  readonly stream_id: string
  readonly ended_at: string | null
}

/** Asks until the answer is right; the time of the test is the limit. */
export async function until<T>(ask: () => T | Promise<T>, isRight: (value: T) => unknown): Promise<T> {
  for (;;) {
    const value = await ask()
    if (isRight(value)) return value
    await Bun.sleep(100)
  }
}

/** Whether a URL is answered with 200. */
export const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    response => response.ok,
    () => false,
  )

export class LiveStrand {
  readonly port: number
  readonly #place: StorePlace
  readonly #graceSeconds: number
  #process: StrandProcess | undefined
  #logs = ''

  private constructor(place: StorePlace, port: number, graceSeconds: number) {
    this.#place = place
    this.port = port
    this.#graceSeconds = graceSeconds
  }

  static async start(engine: (typeof engines)[number], graceSeconds: number): Promise<LiveStrand> {
    const strand = new LiveStrand(await createStorePlace(engine), await freePort(), graceSeconds)
    await strand.serve()
    return strand
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** All that it has logged. */
  get logs(): string {
    return this.#logs + (this.#process?.stderr ?? '') + (this.#process?.stdout ?? '')
  }

  async serve(): Promise<void> {
    this.#process = new StrandProcess(['serve'], { environment: this.#environment() })
    await this.#process.serving()
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#process?.end(signal)
    this.#logs = this.logs
    this.#process = undefined
  }

  async remove(): Promise<void> {
    if (this.#process !== undefined) await this.end('SIGKILL')
    await this.#place.remove()
  }

  /** Runs a command of Strand on the same store. */
  command(...words: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    return this.commandIn({}, ...words)
  }

  async commandIn(
    more: Environment,
    ...words: readonly string[]
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const command = new StrandProcess(words, { environment: { ...this.#environment(), ...more } })
    const code = await command.exit()
    return { code, stdout: command.stdout, stderr: command.stderr }
  }

  async control<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.url}/control${path}`, {
      method,
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
    return (text === '' ? undefined : JSON.parse(text).data[0]) as T
  }

  /** How long Strand took to answer each callback, in milliseconds. */
  callbackTimes(): number[] {
    return this.logs
      .split('\n')
      .filter(line => line.includes('"operation":"callback"'))
      .map(line => (JSON.parse(line) as { ms: number }).ms)
  }

  async channel(id: string, login: string): Promise<LiveChannel> {
    await this.control('PUT', `/users/${id}`, { login })
    const channel = new LiveChannel(this, id, login)
    await channel.rotateKey()
    return channel
  }

  #environment(): Record<string, string> {
    const { folder, databaseUrl } = this.#place
    return {
      STRAND_DATA: folder,
      STRAND_OPERATOR_TOKEN: TOKEN,
      STRAND_LISTEN: `127.0.0.1:${this.port}`,
      STRAND_RECONNECT_GRACE: String(this.#graceSeconds),
      STRAND_LOG: 'debug',
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    }
  }
}

/** A channel and its stream key. */
export class LiveChannel {
  readonly id: string
  readonly login: string
  /** All that it has had, the latest last. */
  readonly keys: string[] = []
  readonly #strand: LiveStrand

  constructor(strand: LiveStrand, id: string, login: string) {
    this.#strand = strand
    this.id = id
    this.login = login
  }

  get key(): string {
    return this.keys.at(-1) ?? ''
  }

  /** Where the key must not be the name of the stream. */
  get loginWithKey(): string {
    return `${this.login}?key=${this.key}`
  }

  async rotateKey(grace_seconds = 0): Promise<void> {
    const path = `/channels/${this.id}/stream-key/rotate`
    const answer = await this.#strand.control<{ stream_key: string }>('POST', path, { grace_seconds })
    this.keys.push(answer.stream_key)
  }

  async stream(): Promise<LiveStream | undefined> {
    const response = await fetch(`${this.#strand.url}/helix/streams?user_id=${this.id}`)
    return ((await response.json()) as { data: LiveStream[] }).data[0]
  }

  untilLive = async (): Promise<LiveStream> => {
    const stream = await until(
      () => this.stream(),
      each => each !== undefined,
    )
    return stream as LiveStream
  }

  untilOffline = (): Promise<unknown> =>
    until(
      () => this.stream(),
      each => each === undefined,
    )

  /** The latest video. */
  video(): Promise<LiveVideo> {
    return this.#strand.control<LiveVideo>('GET', `/videos?user_id=${this.id}&first=1`)
  }

  /** Marks the stream; the position is that of the marker. */
  async mark(): Promise<number> {
    const client = await this.#strand.control<{ id: string }>('POST', '/clients', { name: 'Marker' })
    const { access_token } = await this.#strand.control<{ access_token: string }>('POST', '/tokens', {
      client_id: client.id,
      user_id: this.id,
      scopes: ['channel:manage:broadcast'],
    })
    const response = await fetch(`${this.#strand.url}/helix/streams/markers`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${access_token}`,
        'Client-Id': client.id,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ user_id: this.id }),
    })
    const { data } = (await response.json()) as { data: { position_seconds: number }[] }
    return data[0]?.position_seconds ?? Number.NaN
  }

  endStream(): Promise<void> {
    return this.#strand.control<void>('DELETE', `/channels/${this.id}/stream`).catch(() => undefined)
  }
}
