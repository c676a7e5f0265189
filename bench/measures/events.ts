/**
 * Events to webhooks and to WebSockets: how many messages per second arrive, their delay at a fixed rate, and what a
 * change costs with a listener. Every change is the title of a channel, and the title is the time at which it was sent.
 * Server, database, senders and receivers share all cores.
 */
import { copyStore, type Measure, type Result } from '../bench.ts'
import { ALL_CORES, type Served } from '../load/processes.ts'
import { processorSecondsOf } from '../load/usage.ts'
import { whole } from '../report.ts'
import { median, quantile } from '../statistics.ts'
import { type BenchWorld, CLIENT_ID, SMALLEST } from '../world/world.ts'

const CHANNELS = 20
/** Of every channel: a change is so many messages. */
const LISTENERS = 10
const SENDERS = 8
/** Changes are held back while so many messages are on their way, or it is the queue that is measured. */
const MAX_ON_THEIR_WAY = 1000
const SECONDS = 6
const SINGLE_CHANGES = 300

export const events: Measure = {
  name: 'events',
  seconds: () => 30 + 2 * 7 * SECONDS,
  run: async bench => {
    const world = await bench.makeWorld('events', SMALLEST)
    const databaseUrl = await bench.processes.startDatabase(world)
    const folder = bench.folder('events-embedded')
    copyStore(world.storeFile, folder)
    const settings = { STRAND_EVENT_CALLBACKS: 'any' }
    const options = { secrets: world.secrets, core: ALL_CORES, settings }
    const node = await bench.processes.startStrand(bench.folder('events'), { ...options, databaseUrl })
    const onDatabase = await measureStore(world, node, 'PostgreSQL', [1000, 2000])
    await bench.processes.stopDatabases()
    const alone = await bench.processes.startStrand(folder, options)
    return [...onDatabase, ...(await measureStore(world, alone, 'embedded store', [2500, 2500]))]
  },
}

async function measureStore(
  world: BenchWorld,
  strand: Served,
  where: string,
  [webhooks, sockets]: readonly [number, number],
): Promise<Result[]> {
  const trial = new EventTrial(strand, world)
  const results: Result[] = [
    { work: `A change with one listener, ${where}`, ...(await trial.compareChanges()), atMost: 1.5 },
  ]
  for (const [kind, goal] of [
    ['Webhook', webhooks],
    ['WebSocket', sockets],
  ] as const) {
    const channels = await trial.listen(kind)
    const work = `${kind} messages, ${where}`
    // The runtime compiles what runs often.
    await trial.changeAll(channels)
    results.push({ work, ...(await trial.changeAll(channels)), atLeast: goal })
    const late = await trial.changeAll(channels, goal / LISTENERS)
    results.push({
      ...late,
      work: `${work}: at ${whole(goal)}/s`,
      value: late.p99,
      unit: 'ms, p99',
      ...(kind === 'Webhook' && { atMost: 50 }),
    })
    for (const { work, value, details } of results.slice(-2))
      console.error(`bench: ${work}: ${whole(value)}; ${details}`)
  }
  await trial.stop()
  return results
}

class EventTrial {
  readonly #strand: Served
  readonly #world: BenchWorld
  readonly #receiver: Bun.Server<undefined>
  readonly #sockets: WebSocket[] = []
  #delays: number[] = []

  constructor(strand: Served, world: BenchWorld) {
    this.#strand = strand
    this.#world = world
    this.#receiver = Bun.serve({ port: 0, fetch: request => this.#receive(request) })
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.close()
    await this.#strand.stop()
    await this.#receiver.stop(true)
  }

  /** What a change takes in turns with and without a listener, one after the other. */
  async compareChanges(): Promise<Pick<Result, 'value' | 'unit' | 'details'>> {
    const [heard = '', unheard = ''] = this.#world.liveIds.slice(-2)
    await this.#subscribe(this.#world.appToken, heard, this.#callback(0))
    await this.#allVerified()
    const taken: Record<string, number[]> = { [heard]: [], [unheard]: [] }
    for (let n = 0; n < 2 * SINGLE_CHANGES; n++) {
      const id = n % 2 === 0 ? heard : unheard
      const began = performance.now()
      await this.#change(id)
      taken[id]?.push(performance.now() - began)
      if (id === heard) await until(() => this.#delays.length > n / 2)
    }
    const [withOne, without] = [median(taken[heard] ?? []), median(taken[unheard] ?? [])]
    const details = `${withOne.toFixed(2)} and ${without.toFixed(2)} ms to the answer, medians of ${SINGLE_CHANGES}`
    return { value: withOne / without, unit: 'of one without', details }
  }

  /** Makes the listeners of some channels, and gives the channels. */
  async listen(kind: 'Webhook' | 'WebSocket'): Promise<readonly string[]> {
    const { callers, appToken } = this.#world
    const isSocket = kind === 'WebSocket'
    const owners = callers.slice(0, 2 * CHANNELS).filter((_, n) => n % 2 === (isSocket ? 1 : 0))
    for (const [n, { token }] of owners.entries()) {
      const session_id = isSocket ? await this.#openSocket() : ''
      for (let k = 0; k < LISTENERS; k++) {
        const id = owners[(n + k) % CHANNELS]?.id ?? ''
        if (isSocket) await this.#subscribe(token, id, { method: 'websocket', session_id })
        else await this.#subscribe(appToken, id, this.#callback(k))
      }
    }
    if (!isSocket) await this.#allVerified()
    return owners.map(({ id }) => id)
  }

  /** Changes channels as fast as messages arrive, or at a rate. Ends when all messages have arrived. */
  async changeAll(channels: readonly string[], perSecond?: number) {
    this.#delays = []
    const before = processorSecondsOf(this.#strand.pid)
    const began = performance.now()
    const isOver = () => performance.now() - began > SECONDS * 1000
    let sent = 0
    const send = async (): Promise<void> => {
      while (!isOver()) {
        const due = perSecond === undefined ? 0 : began + (sent * 1000) / perSecond - performance.now()
        const turn = sent++
        if (due > 0) await Bun.sleep(due)
        if (perSecond === undefined)
          await until(() => turn * LISTENERS - this.#delays.length < MAX_ON_THEIR_WAY)
        await this.#change(channels[turn % channels.length] ?? '')
      }
    }
    await Promise.all(Array.from({ length: SENDERS }, send))
    await until(() => this.#delays.length >= sent * LISTENERS)
    const seconds = (performance.now() - began) / 1000
    const cost = ((processorSecondsOf(this.#strand.pid) - before) * 1e6) / this.#delays.length
    const p99 = quantile(this.#delays, 0.99)
    const details = `each takes ${whole(cost)} µs of the server; arrives after ${whole(median(this.#delays))} ms, p99 ${whole(p99)} ms`
    return { value: this.#delays.length / seconds, unit: '/s', p99, details }
  }

  #callback(n: number) {
    const callback = `http://127.0.0.1:${this.#receiver.port}/${n}`
    return { method: 'webhook', callback, secret: 'a secret of tides' }
  }

  async #receive(request: Request): Promise<Response> {
    const { challenge, event } = (await request.json()) as { challenge?: string; event?: { title: string } }
    if (challenge === undefined) this.#arrive(event?.title)
    return new Response(challenge ?? null)
  }

  #arrive(title: string | undefined): void {
    this.#delays.push(performance.now() - Number(title))
  }

  async #allVerified(): Promise<void> {
    const path = '/helix/eventsub/subscriptions?status=webhook_callback_verification_pending'
    while ((await this.#ask('GET', path, this.#world.appToken)).data.length > 0) await Bun.sleep(10)
  }

  async #openSocket(): Promise<string> {
    const socket = new WebSocket(`${this.#strand.url.replace('http', 'ws')}/ws`)
    this.#sockets.push(socket)
    const { promise, resolve } = Promise.withResolvers<string>()
    socket.onmessage = ({ data }) => {
      const { metadata, payload } = JSON.parse(String(data))
      if (metadata.message_type === 'session_welcome') resolve(payload.session.id)
      if (metadata.message_type === 'notification') this.#arrive(payload.event.title)
    }
    return promise
  }

  async #change(id: string): Promise<void> {
    const { operatorToken } = this.#world.secrets
    await this.#ask('PATCH', `/control/channels/${id}`, operatorToken, { title: String(performance.now()) })
  }

  #subscribe(token: string, broadcaster_user_id: string, transport: Readonly<Record<string, string>>) {
    const body = { type: 'channel.update', version: '2', condition: { broadcaster_user_id }, transport }
    return this.#ask('POST', '/helix/eventsub/subscriptions', token, body)
  }

  async #ask(method: string, path: string, token: string, body?: object) {
    const answer = await fetch(`${this.#strand.url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        'Client-Id': CLIENT_ID,
        'Content-Type': 'application/json',
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return JSON.parse(text) as { data: readonly unknown[] }
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(1)
}
