/**
 * Events to webhooks and to WebSockets: how many messages per second arrive, and their delay at a fixed rate. Every change is
 * the title of a channel, and the title is the time at which it was sent. Server, database, senders and receivers share all
 * cores.
 */
import { copyStore, type Measure, type Result } from '../bench.ts'
import { ask, type BenchRequest } from '../load/http.ts'
import { ALL_CORES, type Served } from '../load/processes.ts'
import { processorSecondsOf } from '../load/usage.ts'
import { whole } from '../report.ts'
import { median, quantile } from '../statistics.ts'
import { type BenchWorld, SMALLEST } from '../world/world.ts'

const CHANNELS = 20
/** Of every channel: a change is so many messages. */
const LISTENERS = 10
const SENDERS = 8
/** Changes are held back while so many messages are on their way, or it is the queue that is measured. */
const MAX_ON_THEIR_WAY = 1000
const SECONDS = 6
const SINGLE_CHANGES = 300
const SUBSCRIPTIONS = '/helix/eventsub/subscriptions'

export const events: Measure = {
  name: 'events',
  run: async bench => {
    const world = await bench.makeWorld('events', SMALLEST)
    const databaseUrl = await bench.processes.startDatabase(world)
    const folder = copyStore(world.storeFile, bench.folder('events-embedded'))
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
  const trial = startTrial(strand, world)
  const change = `A change with one listener, ${where}`
  const results: Result[] = [{ work: change, ...(await trial.compareChanges()), atMost: 1.5 }]
  for (const kind of ['Webhook', 'WebSocket'] as const) {
    const [channels, work, goal] = [await trial.listen(kind), `${kind} messages, ${where}`, goals[kind]]
    // The runtime compiles what runs often.
    await trial.changeAll(channels)
    const { perSecond, details } = await trial.changeAll(channels)
    results.push({ work, value: perSecond, unit: '/s', details, atLeast: goal })
    if (kind === 'WebSocket') continue
    const late = await trial.changeAll(channels, goal / LISTENERS)
    const atRate = { work: `${work}: at ${whole(goal)}/s`, value: late.p99, unit: 'ms, p99' }
    results.push({ ...atRate, details: late.details, atMost: 50 })
  }
  await trial.stop()
  return results
}

function startTrial(strand: Served, { callers, liveIds, appToken, secrets }: BenchWorld) {
  let delays: number[] = []
  const arrive = (title: unknown) => delays.push(performance.now() - Number(title))
  const sockets: WebSocket[] = []
  const receiver = Bun.serve({
    port: 0,
    fetch: async request => {
      const { challenge, event } = (await request.json()) as { challenge?: string; event?: { title: string } }
      if (challenge === undefined) arrive(event?.title)
      return new Response(challenge ?? null)
    },
  })
  const askJson = async (request: BenchRequest): Promise<{ readonly data: readonly unknown[] }> =>
    JSON.parse((await ask(strand, request)).toString())
  const change = (id: string) => {
    const body = { title: String(performance.now()) }
    const [path, token] = [`/control/channels/${id}`, secrets.operatorToken]
    return ask(strand, { method: 'PATCH', path, token, body })
  }
  const openSocket = () => {
    const socket = new WebSocket(`${strand.url.replace('http', 'ws')}/ws`)
    sockets.push(socket)
    const { promise, resolve } = Promise.withResolvers<string>()
    socket.onmessage = ({ data }) => {
      const { metadata, payload } = JSON.parse(String(data))
      if (metadata.message_type === 'session_welcome') resolve(payload.session.id)
      if (metadata.message_type === 'notification') arrive(payload.event.title)
    }
    return promise
  }
  /** To a new webhook, or to a WebSocket of a user. */
  const subscribe = async (broadcaster_user_id: string, token = appToken, socket?: object) => {
    const callback = `http://127.0.0.1:${receiver.port}/${crypto.randomUUID()}`
    const transport = socket ?? { method: 'webhook', callback, secret: 'a secret of tides' }
    const body = { type: 'channel.update', version: '2', condition: { broadcaster_user_id }, transport }
    await askJson({ method: 'POST', path: SUBSCRIPTIONS, token, body })
  }
  const allVerified = async () => {
    const path = `${SUBSCRIPTIONS}?status=webhook_callback_verification_pending`
    while ((await askJson({ path, token: appToken })).data.length > 0) await Bun.sleep(10)
  }
  return {
    stop: async () => {
      for (const socket of sockets) socket.close()
      await strand.stop()
      await receiver.stop(true)
    },
    /** Makes the listeners of some channels, and gives the channels. */
    listen: async (kind: Kind): Promise<readonly string[]> => {
      const owners = callers.slice(0, 2 * CHANNELS).filter((_, n) => n % 2 === (kind === 'WebSocket' ? 1 : 0))
      for (const [n, { token }] of owners.entries()) {
        const session_id = kind === 'WebSocket' ? await openSocket() : undefined
        for (let k = 0; k < LISTENERS; k++) {
          const id = owners[(n + k) % CHANNELS]?.id ?? ''
          if (session_id === undefined) await subscribe(id)
          else await subscribe(id, token, { method: 'websocket', session_id })
        }
      }
      await allVerified()
      return owners.map(({ id }) => id)
    },
    /** What a change takes in turns with and without a listener, one after the other. */
    compareChanges: async () => {
      const [heard = '', unheard = ''] = liveIds.slice(-2)
      await subscribe(heard)
      await allVerified()
      const taken: [number[], number[]] = [[], []]
      for (let n = 0; n < 2 * SINGLE_CHANGES; n++) {
        const began = performance.now()
        await change(n % 2 === 0 ? heard : unheard)
        taken[n % 2]?.push(performance.now() - began)
        await until(() => delays.length > Math.floor(n / 2))
      }
      const [withOne, without] = [median(taken[0]), median(taken[1])]
      const details = `${withOne.toFixed(2)} and ${without.toFixed(2)} ms to the answer, medians of ${SINGLE_CHANGES}`
      return { value: withOne / without, unit: 'of one without', details }
    },
    /** Changes channels as fast as messages arrive, or at a rate. Ends when all messages have arrived. */
    changeAll: async (channels: readonly string[], perSecond?: number) => {
      delays = []
      const [before, began] = [processorSecondsOf(strand.pid), performance.now()]
      let sent = 0
      const send = async () => {
        while (performance.now() - began < SECONDS * 1000) {
          const turn = sent++
          if (perSecond === undefined) await until(() => turn * LISTENERS - delays.length < MAX_ON_THEIR_WAY)
          else await Bun.sleep(Math.max(0, began + (turn * 1000) / perSecond - performance.now()))
          await change(channels[turn % channels.length] ?? '')
        }
      }
      await Promise.all(Array.from({ length: SENDERS }, send))
      await until(() => delays.length >= sent * LISTENERS)
      const rate = delays.length / ((performance.now() - began) / 1000)
      const cost = ((processorSecondsOf(strand.pid) - before) * 1e6) / delays.length
      const p99 = quantile(delays, 0.99)
      const arrival = `arrives after ${whole(median(delays))} ms, p99 ${whole(p99)} ms`
      return { perSecond: rate, p99, details: `${whole(cost)} µs of the server each; ${arrival}` }
    },
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(1)
}
