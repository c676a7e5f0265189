/**
 * Publishers and their viewers, as a process that is none of the server's. Reads a plan, prints a report.
 * Every publisher sends at its rate, whatever the server does.
 */
import { readFileSync } from 'node:fs'
import { RtmpClient } from '../../test/support/rtmp-client.ts'
import { processorSecondsOf } from '../load/process-usage.ts'
import { Latencies } from '../report/latencies.ts'
import { asChunks, SyntheticBroadcast } from './synthetic.ts'
import { Watcher } from './watcher.ts'

export interface AudiencePlan {
  /** Undefined: the server has a broadcast of this kind itself. */
  readonly rtmpPort?: number
  readonly channels: readonly { readonly url: string; readonly key: string }[]
  readonly viewersPerChannel: number
  readonly bitsPerSecond: number
  readonly seconds: number
  /** The server, whose processor time is counted while all watch. */
  readonly serverPid: number
}

export interface AudienceReport {
  readonly viewers: number
  /** Video and audio, over all viewers. */
  readonly dropped: number
  /** Viewers and publishers whose connection did not last. */
  readonly disconnected: number
  readonly megabytesPerSecond: number
  /** Frames of the viewer that got the fewest, of those that were sent meanwhile. */
  readonly fewestFrames: number
  readonly sentFrames: number
  /** From sending a frame to its arrival. */
  readonly delay: { readonly median: number; readonly p99: number; readonly max: number }
  /** How late the publishers were at most: if they are, the load generator had no time. */
  readonly latestSend: number
  /** From connecting a publisher to the first frame at a viewer that waits for it; the slowest channel. */
  readonly firstFrame: number
  /** From the request of a viewer of a running broadcast to its first frame; the slowest viewer. */
  readonly joinedFrame: number
  readonly serverCores: number
  readonly loadCores: number
}

const PACE_MILLISECONDS = 2
const SETTLE_MILLISECONDS = 1500
/** A network may have 50 publishers that were not let in yet. */
const CONNECTING = 25
const JOINING = 50

/** Sends a synthetic broadcast over one connection or several, spread over the time between two frames. */
class Senders {
  readonly sentAt: number[] = []
  latest = 0
  sent = 0
  readonly clients: RtmpClient[] = []
  readonly #plan: AudiencePlan
  readonly #senders: { client: RtmpClient; broadcast: SyntheticBroadcast; began: number }[] = []
  readonly #timer = setInterval(() => this.#send(), PACE_MILLISECONDS)

  constructor(plan: AudiencePlan) {
    this.#plan = plan
  }

  async start(key: string): Promise<void> {
    const client = await RtmpClient.connect(this.#plan.rtmpPort ?? 0)
    const code = await client.publish(key)
    if (code !== 'NetStream.Publish.Start') throw new Error(`a publisher was refused: ${code}`)
    const broadcast = new SyntheticBroadcast(this.#plan.bitsPerSecond)
    for (const header of broadcast.headers) client.send(asChunks(header))
    this.clients.push(client)
    this.#senders.push({ client, broadcast, began: performance.now() })
    this.#send()
  }

  stop(): void {
    clearInterval(this.#timer)
    for (const client of this.clients) client.close()
  }

  #send(): void {
    for (const [index, { client, broadcast, began }] of this.#senders.entries()) {
      const passed = performance.now() - began
      for (let message = broadcast.take(passed); message !== undefined; message = broadcast.take(passed)) {
        client.send(asChunks(message))
        if (index > 0 || message.kind === 'audio') continue
        this.latest = Math.max(this.latest, passed - message.timestamp)
        this.sentAt[this.sent++] = performance.now()
      }
    }
  }
}

async function inGroups<T>(all: readonly T[], size: number, run: (each: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += size) await Promise.all(all.slice(at, at + size).map(run))
}

/** Asks until the broadcast is there, and gives the time of the first frame. */
async function firstFrameOf(url: string): Promise<number> {
  const isThere = async () => (await fetch(url, { method: 'HEAD' })).ok
  while (!(await isThere())) await Bun.sleep(5)
  const watcher = await Watcher.open(new URL(url), () => undefined)
  const seenAt = await watcher.firstFrame()
  watcher.close()
  return seenAt
}

async function run(plan: AudiencePlan): Promise<AudienceReport> {
  const senders = new Senders(plan)
  let firstFrame = 0
  if (plan.rtmpPort !== undefined)
    await inGroups(plan.channels, CONNECTING, async ({ key, url }) => {
      const began = performance.now()
      const [, seenAt] = await Promise.all([senders.start(key), firstFrameOf(url)])
      firstFrame = Math.max(firstFrame, seenAt - began)
    })
  const delays = new Latencies()
  let [isMeasured, slowest] = [false, 0]
  const watchers: Watcher[] = []
  let joinedFrame = 0
  await inGroups([...plan.channels.entries()], CONNECTING, async ([index, { url }]) => {
    const note = (n: number) => {
      const sentAt = senders.sentAt[n]
      if (!isMeasured || index > 0 || sentAt === undefined) return
      const delay = performance.now() - sentAt
      delays.add(delay)
      slowest = Math.max(slowest, delay)
    }
    const viewers = Array.from({ length: plan.viewersPerChannel }, () => new URL(url))
    await inGroups(viewers, JOINING, async each => {
      const began = performance.now()
      const watcher = await Watcher.open(each, note)
      watchers.push(watcher)
      joinedFrame = Math.max(joinedFrame, (await watcher.firstFrame()) - began)
    })
  })
  await Bun.sleep(SETTLE_MILLISECONDS)
  isMeasured = true
  senders.latest = 0
  const before = {
    frames: watchers.map(({ frames }) => frames),
    bytes: sum(watchers.map(({ bytes }) => bytes)),
    sent: senders.sent,
    server: processorSecondsOf(plan.serverPid),
    load: processorSecondsOf(process.pid),
    at: performance.now(),
  }
  await Bun.sleep(plan.seconds * 1000)
  const seconds = (performance.now() - before.at) / 1000
  const fewest = Math.min(...watchers.map(({ frames }, index) => frames - (before.frames[index] ?? 0)))
  const report = {
    viewers: watchers.length,
    dropped: sum(watchers.map(({ dropped }) => dropped)),
    disconnected: [...watchers, ...senders.clients].filter(({ isClosed }) => isClosed).length,
    megabytesPerSecond: (sum(watchers.map(({ bytes }) => bytes)) - before.bytes) / seconds / 1e6,
    fewestFrames: fewest,
    sentFrames: senders.sent - before.sent,
    delay: { median: delays.quantile(0.5), p99: delays.quantile(0.99), max: slowest },
    latestSend: senders.latest,
    firstFrame,
    joinedFrame,
    serverCores: (processorSecondsOf(plan.serverPid) - before.server) / seconds,
    loadCores: (processorSecondsOf(process.pid) - before.load) / seconds,
  }
  senders.stop()
  return report
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

if (import.meta.main) {
  const [planFile = ''] = process.argv.slice(2)
  console.log(JSON.stringify(await run(JSON.parse(readFileSync(planFile, 'utf8')))))
  process.exit(0)
}
