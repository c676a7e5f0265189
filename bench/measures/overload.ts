/**
 * Reads of 100 ids on ever more connections, each of which asks again as soon as it has an answer. With twenty times the
 * connections that saturate the server, it must still do nearly as much, and refusals and health checks must stay quick.
 */
import { copyStore, type Measure } from '../bench.ts'
import { ask, type BenchRequest, send } from '../load/http.ts'
import type { Served } from '../load/processes.ts'
import { processorSecondsOf } from '../load/usage.ts'
import { whole } from '../report.ts'
import { median, ofRounds, quantile } from '../statistics.ts'
import { SMALLEST } from '../world/world.ts'

const CONNECTIONS = [32, 200, 1000, 4000]
const SECONDS = 4
/** In turns: the machine is faster in some seconds than in others. */
const ROUNDS = 3
const IDS = 100
const MILLISECONDS_BETWEEN_CHECKS = 100

export const overload: Measure = {
  name: 'overload',
  run: async bench => {
    const world = await bench.makeWorld('overload', SMALLEST)
    const databaseUrl = await bench.processes.startDatabase(world)
    const { secrets, entitlements, appToken: token } = world
    const requests = Array.from({ length: 20 }, (_, n) => {
      const ids = entitlements.slice(n * 50, n * 50 + IDS).map(({ id }) => `id=${id}`)
      return { path: `/helix/entitlements/drops?${ids.join('&')}`, token }
    })
    const folder = copyStore(world.storeFile, bench.folder('overload-embedded'))
    const embedded = await bench.processes.startStrand(folder, { secrets })
    const alone = await measureCurve(requests, 'embedded store', embedded)
    const options = { secrets, databaseUrl }
    const node = await bench.processes.startStrand(bench.folder('overload-node'), options)
    return [...alone, ...(await measureCurve(requests, 'PostgreSQL', node))]
  },
}

async function measureCurve(requests: readonly BenchRequest[], where: string, strand: Served) {
  while (!(await fetch(`${strand.url}/readyz`)).ok) await Bun.sleep(MILLISECONDS_BETWEEN_CHECKS)
  // The runtime compiles what runs often.
  await measurePoint(requests, strand, CONNECTIONS[0] ?? 1)
  const rounds: Awaited<ReturnType<typeof measurePoint>>[][] = []
  for (let round = 0; round < ROUNDS; round++) {
    const points = []
    for (const connections of CONNECTIONS) points.push(await measurePoint(requests, strand, connections))
    rounds.push(points)
  }
  const began = performance.now()
  while ((await ask(strand, requests[0] ?? { path: '/' }).catch(() => undefined)) === undefined);
  const recovery = (performance.now() - began) / 1000
  await strand.stop()
  const last = rounds.flatMap(points => points.slice(-1))
  const ratios = last.map(
    ({ perSecond }, n) => perSecond / Math.max(...(rounds[n] ?? []).map(each => each.perSecond)),
  )
  const middle = rounds[ratios.indexOf(median(ratios))] ?? []
  const work = `${IDS} ids on ${whole(CONNECTIONS.at(-1) ?? 0)} connections, ${where}`
  const details = middle.map(({ text }) => text).join('; ')
  const refusal = median(last.map(each => each.refusal))
  const health = Math.max(...last.map(each => each.health))
  return [
    { work, unit: 'of the peak', atLeast: 0.8, ...ofRounds(ratios), details },
    { work: `${work}: refusals`, value: refusal, unit: 'ms, p99 of refusals', atMost: 1000 },
    { work: `${work}: health checks`, value: health, unit: 'ms, slowest check', atMost: 1000 },
    { work: `${work}: recovery`, value: recovery, unit: 's to a good answer', atMost: 2 },
  ]
}

async function measurePoint(requests: readonly BenchRequest[], strand: Served, connections: number) {
  const [good, refused]: [number[], number[]] = [[], []]
  const health = watchHealth(strand.url)
  const before = processorSecondsOf(strand.pid)
  const load = { requests: around(requests), connections, seconds: SECONDS }
  const { perSecond } = await send(strand, load, (milliseconds, isGood) =>
    (isGood ? good : refused).push(milliseconds),
  )
  const cost = ((processorSecondsOf(strand.pid) - before) * 1e6) / good.length
  const text = `${connections}: ${whole(perSecond)}/s, ${whole(cost)} µs, p99 ${whole(quantile(good, 0.99))} ms, ${refused.length} refused`
  return { perSecond, refusal: quantile(refused, 0.99) || 0, health: await health(), text }
}

function* around(requests: readonly BenchRequest[]) {
  for (;;) yield* requests
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
