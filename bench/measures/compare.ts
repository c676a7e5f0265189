/** Servers that are compared, in interleaved rounds: what disturbs one of them disturbs the others too. */
import type { LoadResult, Measure, Pace, Result } from '../bench.ts'
import { ask, type BenchRequest, type Load } from '../load/http.ts'
import type { Served } from '../load/processes.ts'
import { type LoadedServer, loadOn } from '../load/wrk.ts'
import { BASELINES, type Baseline, type Scenario } from '../scenarios.ts'
import { median, ofRounds } from '../statistics.ts'
import type { BenchWorld } from '../world/world.ts'

const SAMPLED_ANSWERS = 50
/** Warms every server up: the runtime compiles what runs often. Then measures them in turn, forward and backward. */
export async function inTurns({ rounds, seconds, warmUpSeconds }: Pace, sides: readonly LoadedServer[]) {
  for (const side of sides) await side(warmUpSeconds)
  const results = sides.map((): LoadResult[] => [])
  const turns = sides.map((side, n) => async () => results[n]?.push(await side(seconds)))
  for (let round = 0; round < rounds; round++, turns.reverse()) for (const turn of turns) await turn()
  return results
}

/**
 * How much processor time of the other server a request of Strand takes, or the other way round: the median of the ratios of
 * the rounds, because both sides of a round ran one after the other.
 */
export function compareCosts(
  work: string,
  strand: readonly LoadResult[],
  against: readonly LoadResult[],
  unit: string,
  compared: 'speed' | 'cost' = 'speed',
): Result {
  const ratios = strand.map(({ cost }, n) => {
    const other = against[n]?.cost ?? Number.NaN
    return compared === 'cost' ? cost / other : other / cost
  })
  return { work, unit, ...ofRounds(ratios), strand: medians(strand), against: medians(against) }
}

function medians(rounds: readonly LoadResult[]): LoadResult {
  const middle = (name: keyof LoadResult) => median(rounds.map(round => round[name]))
  return { cost: middle('cost'), perSecond: middle('perSecond'), p99: middle('p99') }
}

/** A scenario that is ready to run, with requests that were tried, and what came of them. */
interface Prepared extends Load {
  readonly samples: readonly { readonly request: BenchRequest; readonly answer: Buffer }[]
}

/** The requests of a scenario, a sample of them tried, and an answer of middling length for the bare server to give. */
export async function prepare(world: BenchWorld, strand: Served, scenario: Scenario): Promise<Prepared> {
  const requests = await scenario.prepare(world, async request =>
    JSON.parse((await ask(strand, request)).toString()),
  )
  const every = Math.ceil(requests.length / SAMPLED_ANSWERS)
  const samples: { request: BenchRequest; answer: Buffer }[] = []
  for (const request of requests.filter((_, index) => index % every === 0)) {
    const answer = await ask(strand, request)
    if (!scenario.isRight(JSON.parse(answer.toString())))
      throw new Error(`${request.path} answered something else: ${answer}`)
    samples.push({ request, answer })
  }
  const answers = samples.map(each => each.answer).sort((a, b) => a.length - b.length)
  return { requests, body: answers[answers.length >> 1] ?? Buffer.alloc(0), samples }
}

/** A scenario compared with each of its baselines, by the processor time of a request. */
export function scenarioMeasure(scenario: Scenario): Measure {
  const baselines = (Object.keys(BASELINES) as Baseline[]).filter(name => name in scenario.goals)
  return {
    name: scenario.name,
    run: async bench => {
      const ground = await bench.ground()
      const prepared = await prepare(ground.world, ground.strand, scenario)
      const start: Record<Baseline, (load: Load) => Promise<Served>> = {
        usual: () => bench.usual(),
        least: load => bench.startLeast(load, ground),
        bare: ({ body }) => bench.processes.startBaseline('bare-server', { body: body.toString() }),
      }
      const sides = [loadOn(bench, ground.strand, prepared)]
      const started: Served[] = []
      for (const baseline of baselines) {
        const server = await start[baseline](prepared)
        // Cursors of the usual server differ from ours.
        const sent = baseline === 'usual' ? await prepare(ground.world, server, scenario) : prepared
        if (baseline !== 'bare') await requireSameAnswers(server, prepared, sent)
        if (baseline !== 'usual') started.push(server)
        sides.push(loadOn(bench, server, sent))
      }
      const [ofStrand = [], ...others] = await inTurns(bench.plan.pace, sides)
      for (const server of started) await server.stop()
      return baselines.map((baseline, n) => {
        const atLeast = scenario.goals[baseline]
        const result = compareCosts(scenario.work, ofStrand, others[n] ?? [], BASELINES[baseline])
        return { ...result, ...(atLeast !== undefined && { atLeast }) }
      })
    },
  }
}

/** The same answers; those of the usual server but for cursors, and for the ids and times of what was created. */
async function requireSameAnswers(server: Served, { samples }: Prepared, sent: Prepared) {
  const parse = (answer: Buffer) =>
    JSON.parse(answer.toString(), (key, value) => (key === 'cursor' ? typeof value : value))
  for (const [n, { request, answer }] of samples.entries()) {
    if (request.method === 'POST') continue
    const isUsual = sent.samples !== samples
    const other = isUsual ? (sent.samples[n]?.answer ?? Buffer.alloc(0)) : await ask(server, request)
    if (isUsual ? !Bun.deepEquals(parse(answer), parse(other)) : !other.equals(answer))
      throw new Error(`${request.path} was answered otherwise: ${other.toString('utf8', 0, 1000)}`)
  }
}
