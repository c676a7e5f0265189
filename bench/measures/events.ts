/**
 * Events to webhooks and to WebSockets: how many messages per second arrive, and their delay at a fixed rate. Every change is
 * the title of a channel, and the title is the time at which it was sent. Server, database, senders and receivers share all
 * cores.
 */
import { copyStore, type Measure, type Result } from '../bench.ts'
import { whole } from '../format.ts'
import { ALL_CORES, type Served } from '../load/processes.ts'
import type { BenchRequest } from '../load/request.ts'
import { processorSecondsOf } from '../load/usage.ts'
import { median, quantile } from '../statistics.ts'
import { type BenchWorld, SMALLEST } from '../world/world.ts'
import { askBytes } from './prepare.ts'

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
  block: 'events',
  seconds: () => 30 + 2 * 6 * SECONDS,
  run: async bench => {
    const world = await bench.makeWorld('events', SMALLEST)
    const databaseUrl = await bench.processes.startDatabase(world)
    const folder = bench.folder('events-embedded')
    copyStore(world.storeFile, folder)
    const settings = { STRAND_EVENT_CALLBACKS: 'any' }
    const options = { secrets: world.secrets, core: ALL_CORES, settings }
    const node = await bench.processes.startStrand(bench.folder('events'), { ...options, databaseUrl })
    const onDatabase = await measureStore(world, node, 'PostgreSQL', { Webhook: 1000, WebSocket: 2000 })
    await bench.processes.stopDatabases()
    const alone = await bench.processes.startStrand(folder, options)
    const goals = { Webhook: 2500, WebSocket: 2500 }
    return [...onDatabase, ...(await measureStore(world, alone, 'embedded store', goals))]
  },
}

type Kind = 'Webhook' | 'WebSocket'

async function measureStore(world: BenchWorld, strand: Served, where: string, goals: Record<Kind, number>) {
  const trial = new EventTrial(strand, world)
  const change = `A change with one listener, ${where}`
  const results: Result[] = [{ work: change, ...(await trial.compareChanges()), atMost: 1.5 }]
  for (const [kind, goal] of Object.entries(goals) as [Kind, number][]) {
    const channels = await trial.listen(kind)
    const work = `${kind} messages, ${where}`
    // The runtime compiles what runs often.
    await trial.changeAll(channels)
    const { perSecond, details } = await trial.changeAll(channels)
    results.push({ work, value: perSecond, unit: '/s', details, atLeast: goal })
    const late = await trial.changeAll(channels, goal / LISTENERS)
    const result = {
      work: `${work}: at ${whole(goal)}/s`,
      value: late.p99,
      unit: 'ms, p99',
      details: late.details,
    }
    results.push(kind === 'Webhook' ? { ...result, atMost: 50 } : result)
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

  /** Makes the listeners of some channels, and gives the channels. */
  async listen(kind: Kind): Promise<readonly string[]> {
    const { callers, appToken } = this.#world
    const isSocket = kind === 'WebSocket'
    const owners = callers.slice(0, 2 * CHANNELS).filter((_, n) => n % 2 === (isSocket ? 1 : 0))
    for (const [n, { token }] of owners.entries()) {
      const session_id = isSocket ? await this.#openSocket() : ''
      for (let k = 0; k < LISTENERS; k++) {
        const condition = { broadcaster_user_id: owners[(n + k) % CHANNELS]?.id }
        const transport = isSocket ? { method: 'websocket', session_id } : this.#webhook(k)
        await this.#subscribe(isSocket ? token : appToken, { condition, transport })
      }
    }
    await this.#allVerified()
    return owners.map(({ id }) => id)
  }

  /** What a change takes in turns with and without a listener, one after the other. */
  async compareChanges(): Promise<Pick<Result, 'value' | 'unit' | 'details'>> {
    const [heard = '', unheard = ''] = this.#world.liveIds.slice(-2)
    await this.#subscribe(this.#world.appToken, {
      condition: { broadcaster_user_id: heard },
      transport: this.#webhook(0),
    })
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

  /** Changes channels as fast as messages arrive, or at a rate. Ends when all messages have arrived. */
  async changeAll(channels: readonly string[], perSecond?: number) {
    this.#delays = []
    const { pid } = this.#strand
    const before = processorSecondsOf(pid)
    const began = performance.now()
    const isOver = () => performance.now() - began > SECONDS * 1000
    let sent = 0
    const send = async (): Promise<void> => {
      while (!isOver()) {
        const turn = sent++
        if (perSecond !== undefined)
          await Bun.sleep(Math.max(0, began + (turn * 1000) / perSecond - performance.now()))
        else await until(() => turn * LISTENERS - this.#delays.length < MAX_ON_THEIR_WAY)
        await this.#change(channels[turn % channels.length] ?? '')
      }
    }
    await Promise.all(Array.from({ length: SENDERS }, send))
    await until(() => this.#delays.length >= sent * LISTENERS)
    const rate = this.#delays.length / ((performance.now() - began) / 1000)
    const cost = ((processorSecondsOf(pid) - before) * 1e6) / this.#delays.length
    const p99 = quantile(this.#delays, 0.99)
    const details = `${whole(cost)} µs of the server each; arrives after ${whole(median(this.#delays))} ms, p99 ${whole(p99)} ms`
    return { perSecond: rate, p99, details }
  }

  async #receive(request: Request): Promise<Response> {
    const { challenge, event } = (await request.json()) as { challenge?: string; event?: { title: string } }
    if (challenge === undefined) this.#delays.push(performance.now() - Number(event?.title))
    return new Response(challenge ?? null)
  }

  async #openSocket(): Promise<string> {
    const socket = new WebSocket(`${this.#strand.url.replace('http', 'ws')}/ws`)
    this.#sockets.push(socket)
    const { promise, resolve } = Promise.withResolvers<string>()
    socket.onmessage = ({ data }) => {
      const { metadata, payload } = JSON.parse(String(data))
      if (metadata.message_type === 'session_welcome') resolve(payload.session.id)
      if (metadata.message_type === 'notification')
        this.#delays.push(performance.now() - Number(payload.event.title))
    }
    return promise
  }

  #webhook(n: number) {
    const callback = `http://127.0.0.1:${this.#receiver.port}/${n}`
    return { method: 'webhook', callback, secret: 'a secret of tides' }
  }

  async #subscribe(token: string, given: object): Promise<void> {
    const body = { type: 'channel.update', version: '2', ...given }
    await this.#ask({ method: 'POST', path: '/helix/eventsub/subscriptions', token, body })
  }

  async #allVerified(): Promise<void> {
    const path = '/helix/eventsub/subscriptions?status=webhook_callback_verification_pending'
    while ((await this.#ask({ path, token: this.#world.appToken })).data.length > 0) await Bun.sleep(10)
  }

  async #change(id: string): Promise<void> {
    const body = { title: String(performance.now()) }
    const token = this.#world.secrets.operatorToken
    await this.#ask({ method: 'PATCH', path: `/control/channels/${id}`, token, body })
  }

  async #ask(request: BenchRequest): Promise<{ readonly data: readonly unknown[] }> {
    return JSON.parse((await askBytes(this.#strand, request)).toString())
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(1)
}
