/**
 * How much a node answers for a second of processor time on PostgreSQL, alone and beside another one, and with the embedded
 * store. Servers, database and generator share two cores here, so it is not the rate that is compared but what it cost: a
 * machine with more cores gives each node a separate core.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../../test/support/postgres.ts'
import type { Children, Served } from '../load/children.ts'
import { processorSecondsOf } from '../load/process-usage.ts'
import { loadOn } from '../measures/measure.ts'
import { type Prepared, prepare } from '../measures/prepare.ts'
import { secondsOfTurns } from '../measures/rounds.ts'
import type { NodesPlan } from '../options.ts'
import { circumstances, inWords } from '../report/circumstances.ts'
import { keepResults, showInReadme } from '../report/keep.ts'
import { runSteps } from '../report/progress.ts'
import { median } from '../report/statistics.ts'
import { scenarios } from '../scenarios/index.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import { copyWorld } from '../world/copy-world.ts'
import { type BenchWorld, makeWorld, secondsToMake } from '../world/world.ts'

/** One scenario with one set of servers: requests a second, and for a second of processor time of the servers. */
interface Cost {
  readonly perSecond: number
  readonly perCore: number
}

interface NodesLine {
  readonly work: string
  readonly embedded: Cost
  readonly one: Cost
  readonly two: Cost
}

export async function runNodes(plan: NodesPlan, children: Children, folder: string): Promise<void> {
  const lines: NodesLine[] = []
  const found: { world?: BenchWorld; embedded?: Served; nodes: Served[]; stop?: () => Promise<void> } = {
    nodes: [],
  }
  const scratch = join(folder, 'scratch')
  mkdirSync(scratch, { recursive: true })
  try {
    await runSteps([
      {
        name: 'creating the world',
        seconds: secondsToMake(plan.size),
        run: async () => {
          const made = join(folder, 'world')
          mkdirSync(made)
          found.world = await makeWorld(made, plan.size, () => undefined)
        },
      },
      {
        name: 'copying the world into PostgreSQL',
        seconds: secondsToMake(plan.size) * 3,
        run: async () => {
          const world = required(found.world)
          const postgres = await startPostgres({ durable: true })
          found.stop = postgres.stop
          await copyWorld(world.storeFile, postgres.url)
          for (const name of ['one', 'two']) {
            const data = join(folder, name)
            mkdirSync(data)
            found.nodes.push(await children.startStrand(data, world.secrets, postgres.url))
          }
          found.embedded = await children.startStrand(world.folder, world.secrets)
        },
      },
      ...scenarios.map(scenario => ({
        name: scenario.name,
        seconds: secondsOfTurns(plan.pace, 3),
        run: async () => {
          const [world, embedded] = [required(found.world), required(found.embedded)]
          const [one, two] = found.nodes.map(required) as [Served, Served]
          const sides = { embedded: [embedded], one: [one], two: [one, two] }
          lines.push(await measureNodes({ children, folder: scratch, plan, world }, scenario, sides))
        },
      })),
    ])
  } finally {
    for (const server of [...found.nodes, ...(found.embedded ? [found.embedded] : [])]) await server.stop()
    await found.stop?.()
  }
  const around = await circumstances(children)
  const pace = `${plan.size.streams.toLocaleString('en-US')} live streams; medians of ${plan.pace.rounds} rounds of ${plan.pace.seconds} s`
  const text = `${inWords(around, pace)}\n\n${table(lines)}`
  console.log(text)
  keepResults({ '-nodes.json': `${JSON.stringify({ ...around, pace, lines }, null, 2)}\n` })
  if (plan.write) showInReadme('nodes', text)
}

async function measureNodes(
  {
    children,
    folder,
    plan,
    world,
  }: { children: Children; folder: string; plan: NodesPlan; world: BenchWorld },
  scenario: Scenario,
  sides: Readonly<Record<'embedded' | 'one' | 'two', readonly Served[]>>,
): Promise<NodesLine> {
  const costs: Record<keyof typeof sides, Cost[]> = { embedded: [], one: [], two: [] }
  const prepared = new Map<Served, Prepared>()
  for (const server of new Set(Object.values(sides).flat()))
    prepared.set(server, await prepare(world, server, scenario))
  for (let round = 0; round <= plan.pace.rounds; round++) {
    for (const [side, servers] of Object.entries(sides) as [keyof typeof sides, readonly Served[]][]) {
      const before = servers.map(({ pid }) => processorSecondsOf(pid))
      const { seconds } = plan.pace
      const results = await Promise.all(
        servers.map((server, index) => {
          const place = join(folder, String(index))
          mkdirSync(place, { recursive: true })
          const connections = Math.ceil(scenario.connections / servers.length)
          return loadOn(
            { children, folder: place },
            server,
            { connections },
            required(prepared.get(server)),
          )(seconds)
        }),
      )
      const used = servers.reduce(
        (sum, { pid }, index) => sum + processorSecondsOf(pid) - (before[index] ?? 0),
        0,
      )
      const perSecond = results.reduce((sum, each) => sum + each.perSecond, 0)
      // The first round warms up.
      if (round > 0) costs[side].push({ perSecond, perCore: (perSecond * seconds) / used })
    }
  }
  const middle = (all: readonly Cost[]): Cost => ({
    perSecond: median(all.map(each => each.perSecond)),
    perCore: median(all.map(each => each.perCore)),
  })
  return {
    work: scenario.work,
    embedded: middle(costs.embedded),
    one: middle(costs.one),
    two: middle(costs.two),
  }
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('an earlier step made it')
  return value
}

const whole = (value: number) => Math.round(value).toLocaleString('en-US')

function table(lines: readonly NodesLine[]): string {
  const cell = ({ perSecond, perCore }: Cost) => `**${whole(perCore)}** (${whole(perSecond)})`
  return [
    '| Requests per second of the nodes’ CPU time (and per second of elapsed time) | embedded store | one node on PostgreSQL | two nodes on PostgreSQL |',
    '| --- | --- | --- | --- |',
    ...lines.map(line => `| ${line.work} | ${cell(line.embedded)} | ${cell(line.one)} | ${cell(line.two)} |`),
    '',
  ].join('\n')
}
