import { constants, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LoopPlan } from '../baselines/bare-sqlite.ts'
import type { LeastPlan } from '../baselines/least-server.ts'
import type { Children, Served } from '../load/children.ts'
import { runLoad } from '../load/load.ts'
import { goalText, type Scenario } from '../scenarios/scenario.ts'
import { type BenchWorld, updateBatches } from '../world/world.ts'
import type { Comparison } from './comparison.ts'
import { type Prepared, prepare, requireSameAnswers } from './prepare.ts'
import { inTurns, ofSide, type Pace, type Side } from './rounds.ts'

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

const READING_CONNECTIONS = 8
const SETTLE_MILLISECONDS = 50
/** The disturbance begins so long before the reads, and goes on as long after them. */
const MARGIN_SECONDS = 0.5

/** Strand against each baseline of the scenario. */
export async function measureScenario(ground: Ground, scenario: Scenario): Promise<Comparison[]> {
  const prepared = await prepare(ground.world, ground.strand, scenario)
  const servers: Served[] = []
  const sides: Side[] = []
  for (const { against } of scenario.goals) {
    if (against === 'marker loop' || against === 'update loop') sides.push(loop(ground, against))
    else {
      const server =
        against === 'least server'
          ? await startLeastServer(ground, scenario, prepared, ground.loopFile)
          : await startBareServer(ground, against, prepared)
      servers.push(server)
      sides.push(loadOn(ground, server, scenario, prepared))
    }
  }
  const rounds = await inTurns(ground.pace, [...sides, loadOn(ground, ground.strand, scenario, prepared)])
  for (const server of servers) await server.stop()
  return scenario.goals.map((goal, index) => ({
    name: scenario.name,
    work: scenario.work,
    bodyBytes: prepared.body.length,
    baseline: goal.against,
    goal: goalText(goal),
    ...(goal.atLeast !== undefined && { atLeast: goal.atLeast }),
    compared: 'perSecond',
    strand: ofSide(rounds, scenario.goals.length),
    against: ofSide(rounds, index),
  }))
}

function startBareServer(
  { children, folder }: Ground,
  against: 'bare server' | 'bare server with headers',
  { body }: Prepared,
): Promise<Served> {
  const bodyFile = join(folder, 'body')
  writeFileSync(bodyFile, body)
  return against === 'bare server with headers'
    ? children.startBareServer(bodyFile, 'with-headers')
    : children.startBareServer(bodyFile)
}

/** Reads from the store that Strand has; what it is to write, it writes to a copy of this file. */
export async function startLeastServer(
  { children, folder, world, strand }: Pick<Ground, 'children' | 'folder' | 'world' | 'strand'>,
  scenario: Scenario,
  prepared: Prepared,
  loopFile?: string,
): Promise<Served> {
  const { method = 'GET', path = '' } = prepared.requests[0] ?? {}
  let { storeFile } = world
  if (method !== 'GET') {
    if (loopFile === undefined) throw new Error('a least server that writes needs a store to copy')
    storeFile = join(folder, 'least.db')
    copyFileSync(loopFile, storeFile, constants.COPYFILE_FICLONE)
  }
  const plan: LeastPlan = {
    operation: `${method} ${path.replace(/\?.*/, '')}`,
    storeFile,
    masterKeys: world.secrets.masterKeys,
    // As Strand names itself when it listens on a loopback address.
    publicUrl: strand.url.replace('127.0.0.1', 'localhost'),
  }
  const planFile = join(folder, 'least.json')
  writeFileSync(planFile, JSON.stringify(plan))
  const server = await children.startLeastServer(planFile)
  await requireSameAnswers(server, scenario, prepared)
  return server
}

/** Something else that the server is given to do while it is read from. */
export interface Disturbance {
  readonly name: string
  run(seconds: number): Promise<unknown>
}

/** The p99 of few reading connections alone against the same beside a disturbance, which shares the generator's core. */
export async function measureBeside(
  ground: Ground,
  scenario: Scenario,
  disturbance: Disturbance,
): Promise<Comparison> {
  const prepared = await prepare(ground.world, ground.strand, scenario)
  const alone = loadOn(ground, ground.strand, { connections: READING_CONNECTIONS }, prepared)
  const beside: Side = async seconds => {
    const [, reads] = await Promise.all([
      disturbance.run(seconds + 2 * MARGIN_SECONDS),
      Bun.sleep(MARGIN_SECONDS * 1000).then(() => alone(seconds)),
    ])
    return reads
  }
  const rounds = await inTurns(ground.pace, [alone, beside])
  const baseline = `without ${disturbance.name}`
  return {
    name: `${scenario.name}, beside ${disturbance.name}`,
    work: scenario.work,
    bodyBytes: prepared.body.length,
    baseline,
    goal: `p99 <= 2 of ${baseline}`,
    atMost: 2,
    compared: 'p99',
    strand: ofSide(rounds, 1),
    against: ofSide(rounds, 0),
  }
}

/** A writing scenario at full speed. */
export async function writers(ground: Ground, writing: Scenario): Promise<Disturbance> {
  const folder = join(ground.folder, 'writers')
  mkdirSync(folder, { recursive: true })
  const writes = await prepare(ground.world, ground.strand, writing)
  return { name: 'writers', run: loadOn({ ...ground, folder }, ground.strand, writing, writes) }
}

/** One server under wrk. wrk leaves when its time is over, and what it had asked for is still worked on: that ends first. */
export function loadOn(
  { children, folder }: Pick<Ground, 'children' | 'folder'>,
  { url }: Served,
  { connections }: Pick<Scenario, 'connections'>,
  { requests, body }: Prepared,
): Side {
  return async seconds => {
    const load = { url, requests, connections, seconds, bodyBytes: body.length }
    const result = await runLoad(children, folder, load)
    await (await fetch(`${url}/healthz`)).arrayBuffer()
    await Bun.sleep(SETTLE_MILLISECONDS)
    return result
  }
}

function loop({ children, folder, loopFile, world }: Ground, kind: LoopPlan['work']['kind']): Side {
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
