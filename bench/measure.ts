/** Measurements, each in interleaved rounds: what disturbs one side of a comparison disturbs the other as well. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LoopPlan } from './bare-sqlite.ts'
import type { Children, Served } from './children.ts'
import type { Comparison } from './figures.ts'
import { headersOf, type LoadResult, runLoad } from './load.ts'
import { type AskServer, type Baseline, type BenchRequest, goalText, type Scenario } from './scenario.ts'
import { type BenchWorld, updateBatches } from './world.ts'

/** How long everything is measured. */
export interface Pace {
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
}

/** Where a measurement happens. */
export interface Ground {
  readonly children: Children
  /** For scripts, bodies and plans. */
  readonly folder: string
  readonly world: BenchWorld
  readonly strand: Served
  /** The copy of the store that the bare loops write to. */
  readonly loopFile: string
  readonly pace: Pace
}

const SAMPLED_ANSWERS = 50
const READING_CONNECTIONS = 8
const SETTLE_MILLISECONDS = 50

/** A scenario that is ready to run. */
interface Prepared {
  readonly requests: readonly BenchRequest[]
  /** A typical answer. */
  readonly body: string
}

type Side = (seconds: number) => Promise<LoadResult>

/** Strand against each baseline of the scenario. */
export async function measureScenario(ground: Ground, scenario: Scenario): Promise<Comparison[]> {
  const prepared = await prepare(ground.world, ground.strand, scenario)
  const bodyFile = join(ground.folder, 'body')
  writeFileSync(bodyFile, prepared.body)
  const bare = await ground.children.startBareServer(bodyFile)
  const sides = scenario.goals.map(({ against }) =>
    against === 'bare server' ? loadOn(ground, bare, scenario, prepared) : loop(ground, against),
  )
  const rounds = await inTurns(ground, [...sides, loadOn(ground, ground.strand, scenario, prepared)])
  await bare.stop()
  return scenario.goals.map((goal, index) => ({
    name: scenario.name,
    work: scenario.work,
    bodyBytes: prepared.body.length,
    baseline: goal.against,
    goal: goalText(goal),
    ...(goal.atLeast !== undefined && { atLeast: goal.atLeast }),
    compared: 'perSecond',
    strand: rounds.map(round => round[scenario.goals.length] ?? NOTHING),
    against: rounds.map(round => round[index] ?? NOTHING),
  }))
}

/** Strand in the large world against Strand in a small one. */
export async function measureGrowth(
  ground: Ground,
  small: { readonly world: BenchWorld; readonly strand: Served },
  scenario: Scenario,
): Promise<Comparison> {
  const here = await prepare(ground.world, ground.strand, scenario)
  const there = await prepare(small.world, small.strand, scenario)
  const rounds = await inTurns(ground, [
    loadOn(ground, small.strand, scenario, there),
    loadOn(ground, ground.strand, scenario, here),
  ])
  return {
    name: `${scenario.name}, growth`,
    work: scenario.work,
    bodyBytes: here.body.length,
    baseline: 'small world',
    goal: '>= 0.9 of small world',
    atLeast: 0.9,
    compared: 'perSecond',
    strand: rounds.map(round => round[1] ?? NOTHING),
    against: rounds.map(round => round[0] ?? NOTHING),
  }
}

/** Reads alone against reads while 32 connections create markers. wrk runs twice then, on its one core. */
export async function measureBesideWriters(
  ground: Ground,
  scenario: Scenario,
  writing: Scenario,
): Promise<Comparison> {
  const prepared = await prepare(ground.world, ground.strand, scenario)
  const writes = await prepare(ground.world, ground.strand, writing)
  const few = { ...scenario, connections: READING_CONNECTIONS }
  const alone = loadOn(ground, ground.strand, few, prepared)
  const writersFolder = { ...ground, folder: join(ground.folder, 'writers') }
  const write = loadOn(writersFolder, ground.strand, writing, writes)
  const beside: Side = async seconds => {
    const [, reads] = await Promise.all([write(seconds + 1), Bun.sleep(500).then(() => alone(seconds))])
    return reads
  }
  const rounds = await inTurns(ground, [alone, beside])
  return {
    name: `${scenario.name}, beside writers`,
    work: scenario.work,
    bodyBytes: prepared.body.length,
    baseline: 'without writers',
    goal: 'p99 <= 2 of without writers',
    atMost: 2,
    compared: 'p99',
    strand: rounds.map(round => round[1] ?? NOTHING),
    against: rounds.map(round => round[0] ?? NOTHING),
  }
}

const NOTHING: LoadResult = { perSecond: Number.NaN, p99: Number.NaN }

/** Warms every side up, then measures them in turn, round after round. */
async function inTurns({ pace, strand }: Ground, sides: readonly Side[]): Promise<LoadResult[][]> {
  // wrk leaves when its time is over, and what it had asked for is still worked on: the next side waits for that.
  const settled = async () => {
    await (await fetch(`${strand.url}/healthz`)).arrayBuffer()
    await Bun.sleep(SETTLE_MILLISECONDS)
  }
  for (const side of sides) {
    await side(pace.warmUpSeconds)
    await settled()
  }
  const rounds: LoadResult[][] = []
  for (let round = 0; round < pace.rounds; round++) {
    const results: LoadResult[] = []
    for (const side of sides) {
      results.push(await side(pace.seconds))
      await settled()
    }
    rounds.push(results)
  }
  return rounds
}

function loadOn(
  { children, folder }: Ground,
  { url }: Served,
  { connections }: Scenario,
  { requests, body }: Prepared,
): Side {
  return seconds => runLoad(children, folder, { url, requests, connections, seconds, bodyBytes: body.length })
}

function loop({ children, folder, loopFile, world }: Ground, kind: Exclude<Baseline, 'bare server'>): Side {
  const work: LoopPlan['work'] =
    kind === 'marker loop'
      ? { kind, videoIds: world.marking.map(each => each.videoId) }
      : { kind, batches: updateBatches(world) }
  return async seconds => {
    const planFile = join(folder, 'plan.json')
    writeFileSync(planFile, JSON.stringify({ file: loopFile, seconds, work } satisfies LoopPlan))
    const result = await children.runBareLoop(planFile)
    return { perSecond: result.commits / result.seconds, p99: Number.NaN }
  }
}

/** The requests of a scenario, a sample of them tried, and an answer of middling length for the bare server to give. */
async function prepare(world: BenchWorld, strand: Served, scenario: Scenario): Promise<Prepared> {
  const askText = async (request: BenchRequest) => {
    const { method = 'GET', path, body } = request
    const answer = await fetch(strand.url + path, {
      method,
      headers: headersOf(request),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return text
  }
  const ask: AskServer = async request => JSON.parse(await askText(request))
  const requests = await scenario.prepare(world, ask)
  const answers: string[] = []
  const every = Math.ceil(requests.length / SAMPLED_ANSWERS)
  for (const request of requests.filter((_, index) => index % every === 0)) {
    const text = await askText(request)
    if (!scenario.isRight(JSON.parse(text)))
      throw new Error(`${request.path} answered something else: ${text}`)
    answers.push(text)
  }
  const mean = answers.reduce((sum, text) => sum + text.length, 0) / answers.length
  const [body = ''] = answers.sort((a, b) => Math.abs(a.length - mean) - Math.abs(b.length - mean))
  return { requests, body }
}
