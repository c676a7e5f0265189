/**
 * Creates markers whose events it has subscribed to, and notes when each arrives. Changes and receipts are in one process,
 * so that both are measured by one clock. `bun bench/events/deliveries.ts <plan.json>`; prints its result as JSON.
 */
import { readFileSync } from 'node:fs'
import { Latencies } from '../report/latencies.ts'
import { sendAround } from './connections.ts'
import { receiveWebhooks } from './receiver.ts'
import { openSocket } from './sockets.ts'
import { subscribe, untilEnabled } from './subscribe.ts'

export interface DeliveriesPlan {
  readonly url: string
  readonly transport: 'webhook' | 'websocket'
  readonly appToken: string
  readonly marking: readonly { readonly id: string; readonly token: string }[]
  /** As fast as possible, for the rate. */
  readonly burstSeconds: number
  /** At a fixed rate, for the latencies. */
  readonly paced: { readonly perSecond: number; readonly seconds: number }
}

export interface DeliveriesResult {
  /** Events that were received, divided by the time from the first change to the last receipt. */
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** Of the whole run. */
  readonly events: number
}

const TYPE = 'strand.marker.create'
const HOSTS = 8
const CONNECTIONS = 16
const MAX_WAIT_MILLISECONDS = 120_000

/** Which changes were answered and which events have arrived, by the id of the marker. */
class Receipts {
  readonly #answered = new Map<string, number>()
  readonly #received = new Map<string, number>()

  answer(body: string): void {
    this.#answered.set(idIn(body), performance.now())
  }

  /** A message that comes again counts once. */
  receive(body: string): void {
    const id = idIn(body.slice(body.indexOf('"event":')))
    if (!this.#received.has(id)) this.#received.set(id, performance.now())
  }

  async untilAll(): Promise<void> {
    const end = performance.now() + MAX_WAIT_MILLISECONDS
    while (this.#received.size < this.#answered.size) {
      if (performance.now() > end)
        throw new Error(`${this.#received.size} of ${this.#answered.size} events arrived`)
      await Bun.sleep(2)
    }
  }

  get size(): number {
    return this.#received.size
  }

  /** From the answer to the receipt; 0 if the event was faster. */
  latencies(): Latencies {
    const latencies = new Latencies()
    for (const [id, at] of this.#received) latencies.add(Math.max(0, at - (this.#answered.get(id) ?? at)))
    return latencies
  }
}

const idIn = (text: string): string => /"id":"([^"]+)"/.exec(text)?.[1] ?? ''

async function measureDeliveries(plan: DeliveriesPlan): Promise<DeliveriesResult> {
  const { url, marking } = plan
  let receipts = new Receipts()
  const close = await subscribeAll(plan, body => receipts.receive(body))
  const requests = marking.map(({ id, token }) => ({
    method: 'POST' as const,
    path: '/helix/streams/markers',
    token,
    body: { user_id: id, description: 'the jump' },
  }))
  const circles = Array.from({ length: CONNECTIONS }, (_, index) =>
    requests.filter((_, request) => request % CONNECTIONS === index),
  )
  let events = 0
  const run = async (seconds: number, perSecond?: number) => {
    receipts = new Receipts()
    const began = performance.now()
    const rate = perSecond === undefined ? {} : { perSecond }
    await sendAround({ url, circles, seconds, ...rate }, answer => receipts.answer(answer.body()))
    await receipts.untilAll()
    events += receipts.size
    return (receipts.size * 1000) / (performance.now() - began)
  }
  await run(1)
  await run(plan.paced.seconds, plan.paced.perSecond)
  const latencies = receipts.latencies()
  const perSecond = await run(plan.burstSeconds)
  await close()
  return { perSecond, p50: latencies.quantile(0.5), p99: latencies.quantile(0.99), events }
}

async function subscribeAll(
  { url, transport, marking, appToken }: DeliveriesPlan,
  receive: (body: string) => void,
): Promise<() => Promise<void>> {
  const condition = ({ id }: { id: string }) => ({ broadcaster_user_id: id })
  if (transport === 'webhook') {
    const receivers = receiveWebhooks(HOSTS, receive)
    const ends: (() => Promise<void>)[] = []
    for (const [index, marker] of marking.entries()) {
      const transport = { callback: `${receivers[index % HOSTS]?.url}/${marker.id}` }
      ends.push(await subscribe(url, appToken, { type: TYPE, condition: condition(marker), transport }))
    }
    await untilEnabled(url, appToken)
    return async () => {
      for (const end of ends) await end()
    }
  }
  const sockets: WebSocket[] = []
  for (const marker of marking) {
    const { socket, session_id } = await openSocket(url)
    socket.onmessage = ({ data }) => {
      if (String(data).includes('"notification"')) receive(String(data))
    }
    sockets.push(socket)
    await subscribe(url, marker.token, {
      type: TYPE,
      condition: condition(marker),
      transport: { session_id },
    })
  }
  return async () => {
    for (const each of sockets) each.close()
  }
}

if (import.meta.main) {
  const [file = ''] = process.argv.slice(2)
  const plan = JSON.parse(readFileSync(file, 'utf8')) as DeliveriesPlan
  console.log(JSON.stringify(await measureDeliveries(plan)))
  process.exit(0)
}
