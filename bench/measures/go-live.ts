/** 1,000 channels go live within a second, through the callbacks of a media server, while the directory is read. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Flow, PacedPlan, PacedReport, PacedRequest } from '../load/paced-load.ts'
import { Latencies } from '../report/latencies.ts'
import type { Single } from '../report/metrics.ts'
import { median } from '../report/statistics.ts'
import type { Ground } from './measure.ts'

const CHANNELS = 1000
/** The world has so many times as many channels that are offline. */
const ROUNDS = 2
const READS_PER_SECOND = 200
const CALLBACK_CONNECTIONS = 64
/** The channels go live in the first second of the second stretch. */
const STRETCH_SECONDS = 3
const STRETCHES = 3
const IDS_PER_REQUEST = 100
const SERVER = 'bench'

export const SECONDS_OF_GOING_LIVE = ROUNDS * (STRETCHES * STRETCH_SECONDS + 8)

interface Offline {
  readonly id: string
  readonly login: string
  readonly key: string
}

interface Round {
  readonly refused: number
  readonly visible: number
  readonly slowestCallback: number
  readonly medianCallback: number
  readonly before: number
  readonly during: number
  readonly after: number
}

export async function measureGoingLive(ground: Ground): Promise<Single[]> {
  const secret = await addMediaServer(ground)
  const rounds: Round[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const channels = await keysOf(ground, round * CHANNELS)
    rounds.push(await goLive(ground, channels, secret))
  }
  const middle = (of: (round: Round) => number) => median(rounds.map(of))
  const name = '1,000 channels go live within a second'
  return [
    { name: `${name}: refused`, value: middle(each => each.refused), unit: '', atMost: 0 },
    {
      name: `${name}: not visible after the last answer`,
      value: middle(each => CHANNELS - each.visible),
      unit: '',
      atMost: 0,
    },
    { name: `${name}: callback, median`, value: middle(each => each.medianCallback), unit: 'ms' },
    {
      name: `${name}: callback, slowest`,
      value: middle(each => each.slowestCallback),
      unit: 'ms',
      atMost: 1000,
    },
    { name: `${name}: p99 of GetStreams before`, value: middle(each => each.before), unit: 'ms' },
    { name: `${name}: p99 of GetStreams meanwhile`, value: middle(each => each.during), unit: 'ms' },
    { name: `${name}: p99 of GetStreams afterwards`, value: middle(each => each.after), unit: 'ms' },
  ]
}

async function goLive(ground: Ground, channels: readonly Offline[], secret: string): Promise<Round> {
  const { children, folder, strand } = ground
  const plan: PacedPlan = {
    url: strand.url,
    seconds: STRETCHES * STRETCH_SECONDS,
    reportEverySeconds: STRETCH_SECONDS,
    flows: [reads, callbacks(channels, secret)],
  }
  const planFile = join(folder, 'go-live.json')
  writeFileSync(planFile, JSON.stringify(plan))
  const reports: PacedReport[] = []
  for await (const report of children.runPacedLoad(planFile)) reports.push(report)
  const latencies = (flow: string) => reports.map(({ flows }) => new Latencies(flows[flow]?.latencies))
  const [before = NaN, during = NaN, after = NaN] = latencies(reads.name).map(each => each.quantile(0.99))
  const answered = Latencies.together(latencies('callbacks'))
  return {
    refused: CHANNELS - answered.size,
    visible: await countVisible(ground, channels),
    slowestCallback: answered.quantile(1),
    medianCallback: answered.quantile(0.5),
    before,
    during,
    after,
  }
}

const reads: Flow = {
  name: 'reads',
  perSecond: READS_PER_SECOND,
  connections: 8,
  requests: [{ path: '/helix/streams?first=20' }],
}

/** What MediaMTX asks about each publisher. */
function callbacks(channels: readonly Offline[], secret: string): Flow {
  const requests = channels.map(
    ({ id, login, key }): PacedRequest => ({
      method: 'POST',
      path: `/ingest/mediamtx/${SERVER}/${secret}`,
      body: {
        ip: '192.0.2.7',
        user: '',
        password: '',
        token: key,
        action: 'publish',
        path: `live/${login}`,
        protocol: 'rtmp',
        id: `session-${id}`,
        query: '',
      },
    }),
  )
  return {
    name: 'callbacks',
    perSecond: CHANNELS,
    connections: CALLBACK_CONNECTIONS,
    fromSecond: STRETCH_SECONDS,
    toSecond: STRETCH_SECONDS + 1,
    requests,
  }
}

async function addMediaServer({ strand, world }: Ground): Promise<string> {
  const answer = await fetch(`${strand.url}/control/media-servers/${SERVER}`, {
    method: 'PUT',
    headers: {
      Authorization: `Bearer ${world.secrets.operatorToken}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ adapter: 'mediamtx' }),
  })
  const { data } = (await answer.json()) as { data: [{ secret: string }] }
  return data[0].secret
}

/** The keys of channels that are offline, as their broadcasters read them. */
async function keysOf({ strand, world }: Ground, from: number): Promise<Offline[]> {
  const read = async (path: string, token: string) => {
    const answer = await fetch(`${strand.url}/helix/${path}`, {
      headers: { Authorization: `Bearer ${token}` },
    })
    const { data } = (await answer.json()) as { data: [{ login: string; stream_key: string }] }
    return data[0]
  }
  const found: Offline[] = []
  for (const { id, token } of world.followers.slice(from, from + CHANNELS)) {
    const { login } = await read('users', token)
    const { stream_key: key } = await read(`streams/key?broadcaster_id=${id}`, token)
    found.push({ id, login, key })
  }
  return found
}

async function countVisible({ strand }: Ground, channels: readonly Offline[]): Promise<number> {
  let visible = 0
  for (let at = 0; at < channels.length; at += IDS_PER_REQUEST) {
    const ids = channels.slice(at, at + IDS_PER_REQUEST).map(({ id }) => `user_id=${id}`)
    const answer = await fetch(`${strand.url}/helix/streams?first=100&${ids.join('&')}`)
    const { data } = (await answer.json()) as { data: unknown[] }
    visible += data.length
  }
  return visible
}
