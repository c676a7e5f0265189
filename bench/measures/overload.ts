/**
 * Reads of 100 ids on ever more connections, each of which asks again as soon as it has an answer. With twenty times the
 * connections that saturate the server, it must still do nearly as much, and refusals and health checks must stay quick.
 */
import { type Bench, copyStore, type Measure, type Result } from '../bench.ts'
import { whole } from '../format.ts'
import { sendAround } from '../load/connections.ts'
import type { Served, StrandOptions } from '../load/processes.ts'
import type { BenchRequest } from '../load/request.ts'
import { processorSecondsOf } from '../load/usage.ts'
import { median, quantile } from '../statistics.ts'
import { SMALLEST } from '../world/world.ts'
import { askBytes } from './prepare.ts'

const CONNECTIONS = [32, 200, 1000, 4000] as const
const SECONDS = 4
/** In turns: the machine is faster in some seconds than in others. */
const ROUNDS = 3
const IDS = 100
const MILLISECONDS_BETWEEN_CHECKS = 100

export const overload: Measure = {
  name: 'overload',
  block: 'overload',
  seconds: () => 40 + 2 * (ROUNDS * CONNECTIONS.length + 1) * (SECONDS + 1),
  run: async bench => {
    const world = await bench.makeWorld('overload', SMALLEST)
    const databaseUrl = await bench.processes.startDatabase(world)
    const { secrets, entitlements, appToken: token } = world
    const requests = Array.from({ length: 20 }, (_, n) => {
      const ids = entitlements.slice(n * 50, n * 50 + IDS).map(({ id }) => `id=${id}`)
      return { path: `/helix/entitlements/drops?${ids.join('&')}`, token }
    })
    const folder = bench.folder('overload-embedded')
    copyStore(world.storeFile, folder)
    const node = bench.folder('overload-node')
    return [
      ...(await measureCurve(bench, requests, 'embedded store', folder, { secrets })),
      ...(await measureCurve(bench, requests, 'PostgreSQL', node, { secrets, databaseUrl })),
    ]
  },
}

async function measureCurve(
  { processes }: Bench,
  requests: readonly BenchRequest[],
  where: string,
  folder: string,
  options: StrandOptions,
): Promise<Result[]> {
  const strand = await processes.startStrand(folder, options)
  while (!(await fetch(`${strand.url}/readyz`)).ok) await Bun.sleep(MILLISECONDS_BETWEEN_CHECKS)
  // The runtime compiles what runs often.
  await measurePoint(requests, strand, CONNECTIONS[0])
  const rounds: Awaited<ReturnType<typeof measurePoint>>[][] = []
  for (let round = 0; round < ROUNDS; round++) {
    const points = []
    for (const connections of CONNECTIONS) points.push(await measurePoint(requests, strand, connections))
    rounds.push(points)
  }
  const began = performance.now()
  while ((await askBytes(strand, requests[0] ?? { path: '/' }).catch(() => undefined)) === undefined);
  const recovery = (performance.now() - began) / 1000
  await strand.stop()
  const last = rounds.flatMap(points => points.slice(-1))
  const ratios = rounds.map(
    (points, n) => (last[n]?.perSecond ?? 0) / Math.max(...points.map(each => each.perSecond)),
  )
  const work = `${IDS} ids on ${whole(CONNECTIONS.at(-1) ?? 0)} connections, ${where}`
  const middle = rounds[ratios.indexOf(median(ratios))] ?? []
  const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
  const details = [spread, ...middle.map(({ text }) => text)].join('; ')
  return [
    { work, value: median(ratios), unit: 'of the peak', atLeast: 0.8, details },
    {
      work: `${work}: refusals`,
      value: median(last.map(each => each.refusal)),
      unit: 'ms, p99',
      atMost: 1000,
    },
    {
      work: `${work}: health checks`,
      value: Math.max(...last.map(each => each.health)),
      unit: 'ms, slowest',
      atMost: 1000,
    },
    { work: `${work}: first good answer afterwards`, value: recovery, unit: 's', atMost: 2 },
  ]
}

async function measurePoint(requests: readonly BenchRequest[], { url, pid }: Served, connections: number) {
  const circles = Array.from({ length: connections }, (_, n) =>
    requests.slice(n % requests.length).slice(0, 1),
  )
  const [good, refused]: [number[], number[]] = [[], []]
  const health = watchHealth(url)
  const before = processorSecondsOf(pid)
  const { perSecond } = await sendAround({ url, seconds: SECONDS, circles }, (milliseconds, isGood) =>
    (isGood ? good : refused).push(milliseconds),
  )
  const cost = ((processorSecondsOf(pid) - before) * 1e6) / good.length
  const text = `${connections}: ${whole(perSecond)}/s, ${whole(cost)} µs, p99 ${whole(quantile(good, 0.99))} ms, ${refused.length} refused`
  return { perSecond, refusal: quantile(refused, 0.99) || 0, health: await health(), text }
}

/** Asks both health checks again and again. Returns a function that ends this and gives the slowest answer. */
function watchHealth(url: string): () => Promise<number> {
  let [slowest, isOver] = [0, false]
  const watching = (async () => {
    while (!isOver) {
      for (const path of ['/healthz', '/readyz']) {
        const began = performance.now()
        const { ok } = await fetch(`${url}${path}`)
        slowest = Math.max(slowest, ok ? performance.now() - began : Number.POSITIVE_INFINITY)
      }
      await Bun.sleep(MILLISECONDS_BETWEEN_CHECKS)
    }
  })()
  return async () => {
    isOver = true
    await watching
    return slowest
  }
}
