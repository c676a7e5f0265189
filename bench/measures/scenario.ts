/** A scenario compared with each of its baselines. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LoopPlan } from '../baselines/bare-loop.ts'
import type { BarePlan } from '../baselines/bare-server.ts'
import type { LeastPlan } from '../baselines/least-server.ts'
import { type Bench, copyStore, type Inhabited, type Measure } from '../bench.ts'
import { ALL_CORES, moveTo, SERVER_CORE, type Served } from '../load/processes.ts'
import type { Baseline, Scenario } from '../scenarios/scenario.ts'
import { updateBatches } from '../world/world.ts'
import { type Prepared, prepare, requireSameAnswers } from './prepare.ts'
import { inTurns, loadOn, type Round, ratioOf, type Side, secondsOfTurns } from './rounds.ts'

export function scenarioMeasure(scenario: Scenario): Measure {
  const goals = Object.entries(scenario.goals) as [Baseline, number | undefined][]
  return {
    name: scenario.name,
    seconds: ({ pace }) => secondsOfTurns(pace, goals.length + (scenario.onAllCores ? 2 : 1)),
    run: async bench => {
      const ground = await bench.ground()
      const prepared = await prepare(ground.world, ground.strand, scenario)
      const servers: Served[] = []
      const sides: Side[] = []
      for (const [baseline] of goals) {
        if (isLoop(baseline)) sides.push(await loop(bench, ground, baseline))
        else {
          const server = await startBaseline(bench, ground, scenario, baseline, prepared)
          servers.push(server)
          sides.push(loadOn(bench, server, prepared))
        }
      }
      const strand = loadOn(bench, ground.strand, prepared)
      sides.push(strand)
      if (scenario.onAllCores) sides.push(onAllCores(ground.strand, strand))
      const rounds = await inTurns(bench.plan.pace, sides)
      for (const server of servers) await server.stop()
      const { work } = scenario
      return goals.flatMap(([baseline, atLeast], index) => {
        const compare = (name: string, side: readonly Round[] = []) => ({
          ...ratioOf(name, 'perSecond', side, rounds[index] ?? [], `the ${baseline}`),
          ...(atLeast !== undefined && { atLeast }),
        })
        const one = compare(work, rounds[goals.length])
        if (!scenario.onAllCores || atLeast === undefined) return [one]
        return [one, compare(`${work}, on all cores`, rounds[goals.length + 1])]
      })
    },
  }
}

const isLoop = (baseline: Baseline): baseline is LoopPlan['work']['kind'] => baseline.endsWith(' loop')

/** The threads of the server may then run on the core of the load as well. */
function onAllCores({ pid }: Served, side: Side): Side {
  return async seconds => {
    moveTo(ALL_CORES, pid)
    const round = await side(seconds)
    moveTo(SERVER_CORE, pid)
    return round
  }
}

async function startBaseline(
  bench: Bench,
  ground: Inhabited,
  scenario: Scenario,
  baseline: Baseline,
  prepared: Prepared,
): Promise<Served> {
  if (baseline === 'least server') return startLeastServer(bench, ground, scenario, prepared)
  const bodyFile = join(bench.folder(scenario.name), 'body')
  writeFileSync(bodyFile, prepared.body)
  return bench.processes.startBaseline('bare-server', { bodyFile } satisfies BarePlan)
}

/** Reads from the store that Strand has; what it is to write, it writes to a copy of that. */
async function startLeastServer(
  bench: Bench,
  { world, strand }: Inhabited,
  scenario: Scenario,
  prepared: Prepared,
): Promise<Served> {
  const { method = 'GET', path = '' } = prepared.requests[0] ?? {}
  const plan: LeastPlan = {
    operation: `${method} ${path.replace(/\?.*/, '')}`,
    storeFile: method === 'GET' ? world.storeFile : await copyOfStore(bench, 'least'),
    masterKeys: world.secrets.masterKeys,
    // As Strand names itself when it listens on a loopback address.
    publicUrl: strand.url.replace('127.0.0.1', 'localhost'),
  }
  const server = await bench.processes.startBaseline('least-server', plan)
  await requireSameAnswers(server, scenario, prepared)
  return server
}

/** The store as it was before the server wrote to it. */
async function copyOfStore(bench: Bench, name: string): Promise<string> {
  return copyStore(await bench.pristine(), bench.folder(name))
}

async function loop(bench: Bench, { world }: Inhabited, kind: LoopPlan['work']['kind']): Promise<Side> {
  const file = await copyOfStore(bench, kind)
  const work: LoopPlan['work'] =
    kind === 'marker loop'
      ? { kind, videoIds: world.marking.map(each => each.videoId) }
      : { kind, batches: updateBatches(world) }
  return seconds => bench.processes.runBaseline('bare-loop', { file, seconds, work } satisfies LoopPlan)
}
