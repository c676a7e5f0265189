/**
 * Half an hour of everything at once: whether memory, latency and open files stay where they are. The load is half of what
 * the server could bear, and beside it channels come and go and viewer counts move, because a leak needs change to show.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Children, Served } from '../load/children.ts'
import { startsAndEnds, viewerReports } from '../load/control-flows.ts'
import { runLoad } from '../load/load.ts'
import { mixedRequests } from '../load/mix.ts'
import type { Flow, PacedPlan, PacedReport, PacedRequest } from '../load/paced-load.ts'
import { memoryOf, openFilesOf, processorSecondsOf } from '../load/process-usage.ts'
import type { SoakPlan } from '../options.ts'
import { circumstances } from '../report/circumstances.ts'
import { keepResults, showInReadme, showPicture } from '../report/keep.ts'
import { Latencies } from '../report/latencies.ts'
import { output } from '../report/progress.ts'
import { type SoakReport, type Stretch, soakMarkdown, soakPicture } from '../report/soak-report.ts'
import { median } from '../report/statistics.ts'
import { type BenchWorld, makeWorld, secondsToMake } from '../world/world.ts'

const CONNECTIONS = 32
const SHARE_OF_KNEE = 0.5
const WARM_UP_SECONDS = 4
const KNEE_SECONDS = 30
const READING = 'reads and writes'
/** A long run is looked at minute by minute, a short one in so many stretches. */
const MIN_STRETCHES = 12
const SAMPLE_MILLISECONDS = 1000

/** Where it happens. */
interface Basin {
  readonly children: Children
  readonly folder: string
  readonly world: BenchWorld
  readonly strand: Served
}

export async function runSoak(plan: SoakPlan, children: Children, root: string): Promise<void> {
  const folder = join(root, 'scratch')
  const worldFolder = join(root, 'world')
  for (const each of [folder, worldFolder]) mkdirSync(each)
  const { minutes, size } = plan
  output(
    `creating the world, then ${minutes} minutes; about ${Math.ceil(minutes + secondsToMake(size) / 60 + 1)} in all`,
  )
  const world = await makeWorld(worldFolder, size, progress => output(`world: ${progress}`))
  const strand = await children.startStrand(world.folder, world.secrets)
  const basin: Basin = { children, folder, world, strand }
  const requests = await mixedRequests(world, strand)
  const knee = await findKnee(basin, requests)
  const perSecond = Math.round(knee * SHARE_OF_KNEE)
  output(`the knee is at ${Math.round(knee)} a second; soaking at ${perSecond}`)
  const stretches = await soak(basin, requests, perSecond, minutes)
  const report: SoakReport = {
    ...(await circumstances(children)),
    size,
    minutes,
    knee,
    perSecond,
    stretches,
  }
  publish(report, plan.write)
}

/**
 * What the server bears beside the same changes. wrk says how much at most: it asks for first pages alone while nothing
 * changes, and walking on costs more. So the generator of the soak is given that much to do, and what it gets done, with
 * all connections waiting, is the knee. Changes may fail in this: the channels of the soak are others.
 */
async function findKnee(basin: Basin, requests: readonly PacedRequest[]): Promise<number> {
  const perSecond = await saturate(basin, requests)
  const reading: Flow = { name: READING, perSecond, connections: CONNECTIONS, requests }
  const third = KNEE_SECONDS / 3
  const flows = [reading, ...changes(basin, KNEE_SECONDS, 'those before')]
  const answered: number[] = []
  for await (const report of paced(basin, KNEE_SECONDS, third, flows)) {
    answered.push(new Latencies(report.flows[READING]?.latencies).size)
  }
  // The first third is warm-up, and the last holds what was answered when its time was over.
  return (answered[1] ?? Number.NaN) / third
}

/** As fast as it answers. */
async function saturate(
  { children, folder, strand }: Basin,
  requests: readonly PacedRequest[],
): Promise<number> {
  const load = { url: strand.url, requests, connections: CONNECTIONS, bodyBytes: 1 }
  await runLoad(children, folder, { ...load, seconds: WARM_UP_SECONDS })
  const { perSecond } = await runLoad(children, folder, { ...load, seconds: WARM_UP_SECONDS })
  return perSecond
}

function changes({ world }: Basin, seconds: number, which: 'the last' | 'those before'): Flow[] {
  return [viewerReports(world), ...startsAndEnds(world, seconds, which)]
}

function paced(
  { children, folder, strand }: Basin,
  seconds: number,
  reportEverySeconds: number,
  flows: readonly Flow[],
): AsyncGenerator<PacedReport> {
  const planFile = join(folder, 'paced.json')
  const plan: PacedPlan = { url: strand.url, seconds, reportEverySeconds, flows }
  writeFileSync(planFile, JSON.stringify(plan))
  return children.runPacedLoad(planFile)
}

async function soak(
  basin: Basin,
  requests: readonly PacedRequest[],
  perSecond: number,
  minutes: number,
): Promise<Stretch[]> {
  const seconds = minutes * 60
  const reading: Flow = { name: READING, perSecond, connections: CONNECTIONS, requests }
  const every = Math.min(60, seconds / MIN_STRETCHES)
  const watch = watchProcess(basin.strand.pid)
  const stretches: Stretch[] = []
  const flows = [reading, ...changes(basin, seconds, 'the last')]
  try {
    for await (const report of paced(basin, seconds, every, flows)) {
      const stretch = toStretch(report, (stretches.length + 1) * every, watch.sinceLast())
      stretches.push(stretch)
      output(inALine(stretch, minutes))
    }
  } finally {
    watch.stop()
  }
  return stretches
}

type Watched = Pick<Stretch, 'resident' | 'own' | 'files' | 'processorShare'>

/** Looks at the process every second; a stretch is the median, because memory swings with every collection. */
function watchProcess(pid: number): { sinceLast(): Watched; stop(): void } {
  const look = () => ({ ...memoryOf(pid), files: openFilesOf(pid) })
  let samples = [look()]
  let [at, processorSeconds] = [performance.now(), processorSecondsOf(pid)]
  const timer = setInterval(() => samples.push(look()), SAMPLE_MILLISECONDS)
  return {
    sinceLast: () => {
      const [now, used] = [performance.now(), processorSecondsOf(pid)]
      const seen = {
        resident: median(samples.map(each => each.resident)),
        own: median(samples.map(each => each.own)),
        files: median(samples.map(each => each.files)),
        processorShare: (used - processorSeconds) / ((now - at) / 1000),
      }
      samples = [look()]
      at = now
      processorSeconds = used
      return seen
    },
    stop: () => clearInterval(timer),
  }
}

function toStretch(report: PacedReport, untilSecond: number, watched: Watched): Stretch {
  const flows = Object.values(report.flows)
  const latencies = new Latencies(report.flows[READING]?.latencies)
  const violation = flows.find(each => each.violation !== undefined)?.violation
  return {
    untilSecond,
    requests: latencies.size,
    changes: flows.reduce((sum, each) => sum + new Latencies(each.latencies).size, 0) - latencies.size,
    errors: flows.reduce((sum, each) => sum + each.errors, 0),
    ...(violation !== undefined && { violation }),
    p50: latencies.quantile(0.5),
    p99: latencies.quantile(0.99),
    latencies: latencies.toJSON(),
    generatorDelay: new Latencies(report.delays).quantile(0.99),
    ...watched,
  }
}

function inALine(each: Stretch, minutes: number): string {
  const words = [
    `minute ${Number((each.untilSecond / 60).toFixed(1))} of ${minutes}`,
    `${each.requests.toLocaleString('en-US')} requests and ${each.changes.toLocaleString('en-US')} changes`,
    `${each.errors} errors`,
    `p50 ${each.p50.toFixed(1)} ms`,
    `p99 ${each.p99.toFixed(1)} ms`,
    `own memory ${each.own.toFixed(0)} MB of ${each.resident.toFixed(0)}`,
    `${each.files} open files`,
    `${(100 * each.processorShare).toFixed(0)} % of its core`,
  ]
  return `${words.join(', ')}${each.violation === undefined ? '' : `; ${each.violation}`}`
}

function publish(report: SoakReport, write: boolean): void {
  const [markdown, picture] = [soakMarkdown(report), soakPicture(report)]
  console.log(markdown)
  keepResults({ '-soak.json': `${JSON.stringify(report)}\n`, '-soak.svg': picture })
  if (!write) return
  showPicture('soak.svg', picture)
  showInReadme('soak', markdown)
}
