/** The embedded media server: one broadcast for many viewers, and many broadcasts at once. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Children, freePort, type Served } from '../load/children.ts'
import type { AudiencePlan, AudienceReport } from '../media/audience.ts'
import { FRAMES_PER_SECOND } from '../media/synthetic.ts'
import type { Single } from '../report/metrics.ts'
import { median } from '../report/statistics.ts'
import { type BenchWorld, makeWorld, SMALLEST } from '../world/world.ts'

const SECONDS = 10
const ROUNDS = 3
const WATCHED = { channels: 1, viewersPerChannel: 500, bitsPerSecond: 6_000_000 }
const PUBLISHED = { channels: 200, viewersPerChannel: 1, bitsPerSecond: 1_000_000 }

export const SECONDS_OF_WATCHED = ROUNDS * 2 * (SECONDS + 8)
export const SECONDS_OF_PUBLISHED = ROUNDS * (SECONDS + 15)

interface Audience {
  readonly channels: number
  readonly viewersPerChannel: number
  readonly bitsPerSecond: number
}

interface Channel {
  readonly login: string
  readonly key: string
}

/** A small world with a server that publishers can reach; limits, metrics and log are on. */
class MediaStage {
  readonly #children: Children
  readonly #folder: string
  readonly strand: Served
  readonly channels: readonly Channel[]
  readonly #rtmpPort: number

  private constructor(
    children: Children,
    folder: string,
    strand: Served,
    rtmpPort: number,
    channels: readonly Channel[],
  ) {
    this.#children = children
    this.#folder = folder
    this.strand = strand
    this.#rtmpPort = rtmpPort
    this.channels = channels
  }

  static async open(children: Children, folder: string, count: number): Promise<MediaStage> {
    const data = join(folder, 'world')
    mkdirSync(data)
    const world = await makeWorld(data, SMALLEST, () => undefined)
    const rtmpPort = freePort()
    const settings = { STRAND_RTMP_LISTEN: `127.0.0.1:${rtmpPort}`, STRAND_LOG: 'info' }
    const log = join(folder, 'strand.log')
    const strand = await children.startStrand(data, world.secrets, undefined, settings, log)
    const channels: Channel[] = []
    for (let n = 0; n < count; n++) channels.push(await createChannel(strand, world, `broadcaster_${n}`))
    return new MediaStage(children, folder, strand, rtmpPort, channels)
  }

  watch(audience: Audience): Promise<AudienceReport> {
    const channels = this.channels
      .slice(0, audience.channels)
      .map(({ login, key }) => ({ key, url: `${this.strand.url}/live/${login}.flv` }))
    return this.#run({ ...audience, channels, rtmpPort: this.#rtmpPort, serverPid: this.strand.pid })
  }

  /** The same viewers of a server that does nothing else. */
  async watchBare(audience: Audience): Promise<AudienceReport> {
    const bare = await this.#children.startBareBroadcast(audience.bitsPerSecond)
    try {
      const channels = [{ url: `${bare.url}/`, key: '' }]
      return await this.#run({ ...audience, channels, serverPid: bare.pid })
    } finally {
      await bare.stop()
    }
  }

  #run(plan: Omit<AudiencePlan, 'seconds'>): Promise<AudienceReport> {
    const planFile = join(this.#folder, 'audience.json')
    writeFileSync(planFile, JSON.stringify({ ...plan, seconds: SECONDS } satisfies AudiencePlan))
    return this.#children.runAudience(planFile)
  }
}

async function createChannel({ url }: Served, { secrets }: BenchWorld, login: string): Promise<Channel> {
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${url}/control${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${secrets.operatorToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    const { data } = (await answer.json()) as { data: [{ id: string; stream_key: string }] }
    return data[0]
  }
  const { id } = await post('/users', { login })
  const { stream_key } = await post(`/channels/${id}/stream-key/rotate`, {})
  return { login, key: stream_key }
}

/** One publisher of 6 Mbit/s and 500 viewers. */
export async function measureWatched(children: Children, folder: string): Promise<Single[]> {
  const stage = await MediaStage.open(children, folder, WATCHED.channels)
  const [strand, bare]: [AudienceReport[], AudienceReport[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await stage.watchBare(WATCHED))
    strand.push(await stage.watch(WATCHED))
  }
  await stage.strand.stop()
  const name = '500 viewers of 6 Mbit/s'
  return [
    { name: `${name}: dropped frames`, value: most(strand, lossOf), unit: 'tags', atMost: 0 },
    { name: `${name}: the server`, value: middle(strand, coreOf), unit: '% of a core', atMost: 100 },
    { name: `${name}: sent`, value: middle(strand, each => each.megabytesPerSecond), unit: 'MB/s' },
    { name: `${name}: a bare server`, value: middle(bare, coreOf), unit: '% of a core' },
    { name: `${name}: frame delay, p99`, value: middle(strand, ({ delay }) => delay.p99), unit: 'ms' },
    {
      name: 'Publish to first frame at a viewer',
      value: most(strand, each => each.firstFrame),
      unit: 'ms',
      atMost: 1000,
    },
    {
      name: 'Request of a viewer to its first frame, the slowest of 50 at once',
      value: middle(strand, each => each.joinedFrame),
      unit: 'ms',
    },
  ]
}

/** 200 publishers of 1 Mbit/s, each with a viewer that follows it. */
export async function measurePublished(children: Children, folder: string): Promise<Single[]> {
  const stage = await MediaStage.open(children, folder, PUBLISHED.channels)
  const rounds: AudienceReport[] = []
  for (let round = 0; round < ROUNDS; round++) rounds.push(await stage.watch(PUBLISHED))
  await stage.strand.stop()
  const name = '200 publishers of 1 Mbit/s'
  return [
    { name: `${name}: dropped frames`, value: most(rounds, lossOf), unit: 'tags', atMost: 0 },
    { name: `${name}: the server`, value: middle(rounds, coreOf), unit: '% of a core', atMost: 100 },
    { name: `${name}: frame delay, p99`, value: middle(rounds, ({ delay }) => delay.p99), unit: 'ms' },
    {
      name: `${name}: publish to first frame, the slowest of 25 at once`,
      value: middle(rounds, each => each.firstFrame),
      unit: 'ms',
    },
  ]
}

type Of = (report: AudienceReport) => number

/** Tags that a viewer did not get, frames that are more than a second late, and connections that did not last. */
const lossOf: Of = ({ dropped, disconnected, sentFrames, fewestFrames }) =>
  dropped + disconnected + Math.max(0, sentFrames - fewestFrames - FRAMES_PER_SECOND)
const coreOf: Of = ({ serverCores }) => 100 * serverCores
const most = (reports: readonly AudienceReport[], of: Of) => Math.max(...reports.map(of))
const middle = (reports: readonly AudienceReport[], of: Of) => median(reports.map(of))
