/** A scenario compared with each of its baselines, by the processor time of a request. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BarePlan } from '../baselines/bare-server.ts'
import type { LeastPlan } from '../baselines/least-server.ts'
import { type Bench, type Measure, publicUrl } from '../bench.ts'
import { BASELINES, type Baseline, type Scenario } from '../scenarios/scenario.ts'
import { type Prepared, prepare, requireSameAnswers } from './prepare.ts'
import { compareCosts, inTurns, loadOn, type Side, secondsOfTurns } from './rounds.ts'

/** Constant answers need next to none; the others are warm from the operations before, or little code. */
const WARM_UP: Record<Baseline, number> = { usual: 0.6, least: 0.6, bare: 0.2 }

export function scenarioMeasure(scenario: Scenario): Measure {
  const baselines = (Object.keys(BASELINES) as Baseline[]).filter(name => name in scenario.goals)
  return {
    name: scenario.name,
    block: 'operations',
    seconds: ({ pace }) => secondsOfTurns(pace, 1 + baselines.length),
    run: async bench => {
      const { world, strand } = await bench.ground()
      const prepared = await prepare(world, strand, scenario)
      const sides: Side[] = [loadOn(bench, strand, prepared)]
      const stops: (() => Promise<void>)[] = []
      for (const baseline of baselines) {
        const server = await startBaseline(bench, scenario, baseline, prepared)
        let sent = prepared
        if (baseline === 'least') await requireSameAnswers(server, scenario, prepared)
        if (baseline === 'usual') {
          // It has cursors that differ.
          sent = await prepare(world, server, scenario)
          requireEqualAnswers(prepared, sent)
        } else stops.push(() => server.stop())
        sides.push(loadOn(bench, server, sent, WARM_UP[baseline]))
      }
      const [ofStrand = [], ...others] = await inTurns(bench.plan.pace, sides)
      for (const stop of stops) await stop()
      return baselines.map((baseline, n) => {
        const atLeast = scenario.goals[baseline]
        const result = compareCosts(scenario.work, ofStrand, others[n] ?? [], BASELINES[baseline])
        return { ...result, ...(atLeast !== undefined && { atLeast }) }
      })
    },
  }
}

async function startBaseline(bench: Bench, { name }: Scenario, baseline: Baseline, prepared: Prepared) {
  if (baseline === 'usual') return bench.usual()
  if (baseline === 'bare') {
    const bodyFile = join(bench.folder(name), 'body')
    writeFileSync(bodyFile, prepared.body)
    return bench.processes.startBaseline('bare-server', { bodyFile } satisfies BarePlan)
  }
  const { world, strand } = await bench.ground()
  return bench.processes.startBaseline('least-server', {
    operation: prepared.requests[0]?.path.replace(/\?.*/, '') ?? '',
    storeFile: world.storeFile,
    masterKeys: world.secrets.masterKeys,
    publicUrl: publicUrl(strand),
  } satisfies LeastPlan)
}

/** The same answers, but for cursors, and for the ids and times of what was created. */
function requireEqualAnswers({ samples }: Prepared, { samples: others }: Prepared): void {
  for (const [n, { request, answer }] of samples.entries()) {
    if (request.method === 'POST') continue
    const other = others[n]?.answer ?? Buffer.alloc(0)
    const [expected, found] = [answer, other].map(bytes =>
      JSON.parse(bytes.toString(), (key, value) => (key === 'cursor' ? typeof value : value)),
    )
    if (!Bun.deepEquals(expected, found))
      throw new Error(`${request.path} was answered otherwise: ${other.toString('utf8', 0, 1000)}`)
  }
}
