/**
 * What is left of a node on PostgreSQL when far more is asked of its store than it can read: how much is still answered,
 * how much is refused, and whether health checks and the directory, which is in memory, notice anything. All clients ask
 * again at once, also when they are refused.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../../test/support/postgres.ts'
import { type Children, LOAD_CORE, type Served } from '../load/children.ts'
import { requestArguments } from '../load/load.ts'
import { processorSecondsOf } from '../load/process-usage.ts'
import type { OverloadPlan } from '../options.ts'
import { circumstances, inWords } from '../report/circumstances.ts'
import { keepResults } from '../report/keep.ts'
import { runSteps } from '../report/progress.ts'
import type { BenchRequest } from '../scenarios/scenario.ts'
import { copyWorld } from '../world/copy-world.ts'
import { type BenchWorld, makeWorld, secondsToMake } from '../world/world.ts'

const CONNECTIONS = [32, 1500, 4000]
const LOOK_MILLISECONDS = 200
const MAX_LOOK_MILLISECONDS = 2000

/** The limits let one application ask 13 times a second: what many callers ask is measured with them, and the rest without. */
const LOADS: readonly OverloadLoad[] = [
  {
    work: 'GetDropsEntitlements, pages of 100, without rate limits',
    settings: { STRAND_RATE_APP: '0', STRAND_RATE_USER: '0', STRAND_RATE_ANONYMOUS: '0' },
    requestsOf: ({ appToken }) => [
      { path: '/helix/entitlements/drops?first=100&fulfillment_status=CLAIMED', token: appToken },
    ],
  },
  {
    work: 'GetStreamMarkers of many callers, with default settings',
    settings: { STRAND_RATE_APP: '', STRAND_RATE_USER: '', STRAND_RATE_ANONYMOUS: '' },
    requestsOf: ({ callers }) =>
      callers.map(({ id, token }) => ({ path: `/helix/streams/markers?user_id=${id}`, token })),
  },
]

interface OverloadLoad {
  readonly work: string
  readonly settings: Readonly<Record<string, string>>
  requestsOf(world: BenchWorld): readonly BenchRequest[]
}

interface OverloadLine {
  readonly work: string
  readonly connections: number
  readonly answeredPerSecond: number
  readonly refusedPerSecond: number
  readonly timedOut: number
  /** Seconds of processor time that the server got, of each second. */
  readonly processor: number
  readonly ready: Looks
  readonly directory: Looks
}

/** How often something was asked beside the load, how often it was answered 200 in time, and the longest answer. */
interface Looks {
  readonly asked: number
  readonly good: number
  readonly slowestMilliseconds: number
}

export async function runOverload(plan: OverloadPlan, children: Children, folder: string): Promise<void> {
  const lines: OverloadLine[] = []
  const world = join(folder, 'world')
  mkdirSync(world)
  const found: { world?: BenchWorld; url?: string; stop?: () => Promise<void> } = {}
  try {
    await runSteps([
      {
        name: 'creating the world and copying it into PostgreSQL',
        seconds: secondsToMake(plan.size) * 4,
        run: async () => {
          found.world = await makeWorld(world, plan.size, () => undefined)
          const postgres = await startPostgres({ durable: true })
          found.stop = postgres.stop
          found.url = postgres.url
          await copyWorld(found.world.storeFile, postgres.url)
        },
      },
      ...LOADS.map(({ work, settings, requestsOf }, index) => ({
        name: work,
        seconds: CONNECTIONS.length * (plan.seconds + 5),
        run: async () => {
          if (found.world === undefined) throw new Error('an earlier step made it')
          const data = join(folder, `node-${index}`)
          mkdirSync(data)
          const strand = await children.startStrand(data, found.world.secrets, found.url, settings)
          const requests = requestsOf(found.world)
          try {
            for (const connections of CONNECTIONS) {
              const load = { connections, seconds: plan.seconds, requests }
              lines.push({ work, connections, ...(await overload(children, folder, strand, load)) })
            }
          } finally {
            await strand.stop()
          }
        },
      })),
    ])
  } finally {
    await found.stop?.()
  }
  const around = await circumstances(children)
  const what = `one node on PostgreSQL, ${plan.seconds} s each`
  console.log(`${inWords(around, what)}\n\n${table(lines)}`)
  keepResults({ '-overload.json': `${JSON.stringify({ ...around, lines }, null, 2)}\n` })
}

async function overload(
  children: Children,
  folder: string,
  strand: Served,
  load: { connections: number; seconds: number; requests: readonly BenchRequest[] },
): Promise<Omit<OverloadLine, 'work' | 'connections'>> {
  const usedBefore = processorSecondsOf(strand.pid)
  const wrk = ['wrk', '-t1', `-c${load.connections}`, `-d${load.seconds}s`, '--timeout', '10s']
  const running = children.output(LOAD_CORE, [...wrk, ...requestArguments(folder, strand.url, load.requests)])
  let isOver = false
  const looking = Promise.all(
    ['/readyz', '/helix/streams?first=20'].map(path => look(strand.url + path, () => isOver)),
  )
  const output = await running.finally(() => {
    isOver = true
  })
  const [ready, directory] = (await looking) as [Looks, Looks]
  const all = Number(/(\d+) requests in/.exec(output)?.[1])
  const seconds = Number(/requests in ([0-9.]+)s/.exec(output)?.[1])
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? 0)
  const timedOut = Number(/timeout (\d+)/.exec(output)?.[1] ?? 0)
  return {
    answeredPerSecond: (all - refused) / seconds,
    refusedPerSecond: refused / seconds,
    timedOut,
    processor: (processorSecondsOf(strand.pid) - usedBefore) / seconds,
    ready,
    directory,
  }
}

async function look(url: string, isOver: () => boolean): Promise<Looks> {
  let [asked, good, slowestMilliseconds] = [0, 0, 0]
  while (!isOver()) {
    const began = performance.now()
    const status = await fetch(url, {
      headers: { Connection: 'close' },
      signal: AbortSignal.timeout(MAX_LOOK_MILLISECONDS),
    }).then(
      async answer => {
        await answer.arrayBuffer()
        return answer.status
      },
      () => 0,
    )
    asked += 1
    if (status === 200) good += 1
    slowestMilliseconds = Math.max(slowestMilliseconds, performance.now() - began)
    await Bun.sleep(LOOK_MILLISECONDS)
  }
  return { asked, good, slowestMilliseconds }
}

const whole = (value: number) => Math.round(value).toLocaleString('en-US')

function table(lines: readonly OverloadLine[]): string {
  const looks = ({ asked, good, slowestMilliseconds }: Looks) =>
    `${good} of ${asked}, slowest ${whole(slowestMilliseconds)} ms`
  return [
    '| Work | Connections | Served/s | Rejected/s | Timed out | Cores of the server | /readyz 200 | Directory 200 |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...lines.map(
      line =>
        `| ${line.work} | ${whole(line.connections)} | **${whole(line.answeredPerSecond)}** | ${whole(line.refusedPerSecond)} | ${line.timedOut} | ${line.processor.toFixed(2)} | ${looks(line.ready)} | ${looks(line.directory)} |`,
    ),
    '',
  ].join('\n')
}
