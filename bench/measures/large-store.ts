/**
 * An embedded store with many entitlements: imported, then each fulfilled through the command of the server, in calls of 100
 * ids, so that the audit log has their history. What size it has, and what start, requests and a backup take. Requests come
 * one at a time, so latencies are those of an idle server.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { createStore } from '../../src/store/store.ts'
import type { Bench, Measure, Result } from '../bench.ts'
import { sendAround } from '../load/connections.ts'
import type { Served } from '../load/processes.ts'
import { memoryOf } from '../load/usage.ts'
import { whole } from '../report.ts'
import { entitlementReads, updateDropsEntitlements } from '../scenarios/entitlements.ts'
import { quantile } from '../statistics.ts'
import { fulfilAll, inventEntitlements } from '../world/history.ts'
import { type BenchWorld, type Holding, SMALLEST } from '../world/world.ts'
import { importEntitlements } from './imports.ts'
import { prepare } from './prepare.ts'

const SAMPLED_CALLS = 2000
const SECONDS_PER_OPERATION = 5

export const largeStore: Measure = {
  name: 'large-store',
  seconds: ({ size }) => 60 + size.entitlements / 15_000,
  run: async bench => {
    const { processes, plan } = bench
    const count = plan.size.entitlements
    const world = await bench.makeWorld('large-store', SMALLEST)
    const before = statSync(world.storeFile).size
    const { seconds } = await importEntitlements(bench, world, count)
    const began = performance.now()
    const calls = await fulfil(world, count)
    const fulfilled = (count * 1000) / (performance.now() - began)
    const bytes = statSync(world.storeFile).size - before
    const strand = await processes.startStrand(world.folder, world)
    const results: Result[] = [
      { work: `Import of ${whole(count)} entitlements`, value: count / seconds, unit: 'lines/s' },
      { work: 'Fulfilled by calls of 100', value: fulfilled, unit: '/s' },
      { work: 'Size', value: bytes / 1e9, unit: 'GB', details: `${whole(bytes / count)} bytes each` },
      { work: 'Start to first response', value: strand.milliseconds, unit: 'ms' },
      ...(await measureOperations(strand, world, calls)),
      { work: 'Private memory after that', value: memoryOf(strand.pid).own, unit: 'MB' },
      await measureBackup(bench, world),
    ]
    await strand.stop()
    return results
  },
}

/** Gives the entitlements of some calls, evenly drawn from all. */
async function fulfil(world: BenchWorld, count: number): Promise<readonly (readonly Holding[])[]> {
  const store = createStore(await openSqliteEngine(world.storeFile))
  const sampled: (readonly Holding[])[] = []
  const every = Math.max(1, Math.floor(count / 100 / SAMPLED_CALLS))
  let calls = 0
  await fulfilAll(store, world, inventEntitlements(world, count), fulfilled => {
    if (calls++ % every === 0) sampled.push(fulfilled)
    if (calls % 5000 === 0) console.error(`bench: ${whole(calls * 100)} fulfilled`)
  })
  await store.close()
  return sampled
}

/** The requests of the scenarios about entitlements, over all that there are. */
async function measureOperations(
  strand: Served,
  world: BenchWorld,
  calls: readonly (readonly Holding[])[],
): Promise<Result[]> {
  const large: BenchWorld = {
    ...world,
    entitlements: calls.flatMap(call => call.slice(0, 1)),
    batches: calls.map(call => call.map(({ id }) => id)),
  }
  const results: Result[] = []
  for (const scenario of [...entitlementReads, updateDropsEntitlements]) {
    const { requests } = await prepare(large, strand, scenario)
    const times: number[] = []
    // From the end: updates begin with those that change the status.
    const load = { url: strand.url, seconds: SECONDS_PER_OPERATION, circles: [requests.toReversed()] }
    await sendAround(load, milliseconds => times.push(milliseconds))
    const details = `p99 ${quantile(times, 0.99).toFixed(2)} ms, slowest ${quantile(times, 1).toFixed(1)} ms of ${whole(times.length)}`
    results.push({ work: scenario.work, value: quantile(times, 0.5), unit: 'ms at p50', details })
  }
  return results
}

/** While the server runs. */
async function measureBackup(bench: Bench, world: BenchWorld): Promise<Result> {
  const file = join(bench.folder('backup'), 'backup.tar')
  const words = ['backup', file, '--unsealed', '--yes']
  const { seconds, megabytes } = await bench.processes.runStrand(world, words)
  const details = `${(statSync(file).size / 1e9).toFixed(2)} GB, at most ${whole(megabytes)} MB of private memory`
  return { work: 'Backup beside the server', value: seconds, unit: 's', details }
}
