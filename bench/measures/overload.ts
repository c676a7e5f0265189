/**
 * Reads of 100 ids on ever more connections, each of which asks again as soon as it has an answer. With twenty times the
 * connections that saturate the server, it must still do nearly as much, and refusals and health checks must stay quick.
 */
import { type Bench, copyStore, type Measure, type Result } from '../bench.ts'
import { sendAround } from '../load/connections.ts'
import type { Served } from '../load/processes.ts'
import { processorSecondsOf } from '../load/usage.ts'
import { whole } from '../report.ts'
import { quantile } from '../statistics.ts'
import { type BenchWorld, SMALLEST } from '../world/world.ts'

const CONNECTIONS = [32, 200, 1000, 4000]
const SECONDS = 6
const IDS = 100
const MILLISECONDS_BETWEEN_CHECKS = 100

export const overload: Measure = {
  name: 'overload',
  seconds: () => 40 + 2 * CONNECTIONS.length * SECONDS,
  run: async bench => {
    const world = await bench.makeWorld('overload', SMALLEST)
    const databaseUrl = await bench.processes.startDatabase(world)
    const folder = bench.folder('overload-embedded')
    copyStore(world.storeFile, folder)
    const { secrets } = world
    return [
      ...(await measureCurve(bench, world, 'embedded store', folder, { secrets })),
      ...(await measureCurve(bench, world, 'PostgreSQL', bench.folder('overload'), { secrets, databaseUrl })),
    ]
  },
}

async function measureCurve(
  { processes }: Bench,
  world: BenchWorld,
  where: string,
  folder: string,
  options: Parameters<typeof processes.startStrand>[1],
): Promise<Result[]> {
  const strand = await processes.startStrand(folder, options)
  while (!(await fetch(`${strand.url}/readyz`)).ok) await Bun.sleep(MILLISECONDS_BETWEEN_CHECKS)
  const points = []
  for (const connections of CONNECTIONS) points.push(await measurePoint(world, where, strand, connections))
  const recovery = await secondsToRecover(world, strand)
  await strand.stop()
  const last = points.at(-1)
  if (last === undefined) return []
  const peak = Math.max(...points.map(({ perSecond }) => perSecond))
  const work = `Reads of ${IDS} ids, ${whole(CONNECTIONS.at(-1) ?? 0)} connections, ${where}`
  const details = points.map(({ text }) => text).join('; ')
  return [
    { work, value: last.perSecond / peak, unit: 'of the peak', atLeast: 0.8, details },
    { work: `${work}: refusals`, value: last.refusal, unit: 'ms, p99', atMost: 1000 },
    { work: `${work}: health checks`, value: last.health, unit: 'ms, slowest', atMost: 1000 },
    { work: `${work}: first good answer afterwards`, value: recovery, unit: 's', atMost: 2 },
  ]
}

async function measurePoint(world: BenchWorld, where: string, { url, pid }: Served, connections: number) {
  const requests = readsOfManyIds(world)
  const circles = Array.from({ length: connections }, (_, n) => [
    requests[n % requests.length] ?? { path: '/' },
  ])
  const [good, refused]: [number[], number[]] = [[], []]
  const health = watchHealth(url)
  const before = processorSecondsOf(pid)
  const { perSecond } = await sendAround(
    { url, seconds: SECONDS, circles, countsRejected: true },
    milliseconds => good.push(milliseconds),
    milliseconds => refused.push(milliseconds),
  )
  const refusal = refused.length === 0 ? 0 : quantile(refused, 0.99)
  const microseconds = ((processorSecondsOf(pid) - before) * 1e6) / good.length
  const text = `${connections}: ${whole(perSecond)}/s, ${whole(microseconds)} µs of CPU each, p99 ${whole(quantile(good, 0.99))} ms, ${refused.length} refused`
  const slowest = await health()
  console.error(`bench: ${where}, ${text} within ${whole(refusal)} ms, health within ${whole(slowest)} ms`)
  return { perSecond, refusal, health: slowest, text }
}

function readsOfManyIds({ entitlements, appToken: token }: BenchWorld) {
  return Array.from({ length: 20 }, (_, n) => {
    const ids = entitlements.slice(n * 50, n * 50 + IDS)
    return { path: `/helix/entitlements/drops?${ids.map(({ id }) => `id=${id}`).join('&')}`, token }
  })
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

async function secondsToRecover(world: BenchWorld, { url }: Served): Promise<number> {
  const began = performance.now()
  const [request] = readsOfManyIds(world)
  for (;;) {
    const { ok } = await fetch(`${url}${request?.path}`, {
      headers: { Authorization: `Bearer ${request?.token}` },
    })
    if (ok) return (performance.now() - began) / 1000
  }
}
