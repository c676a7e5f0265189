/**
 * What rate limits cost when many callers ask for little: 100,000 addresses read the directory, with default settings and
 * with limits off, in turns on servers that are both up. Beside the reads channels go live and stop, and one caller asks for
 * far more than it may: how much it gets is held against the documented limit.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../../test/support/postgres.ts'
import { type Children, freePort, LOAD_CORE, type Served } from '../load/children.ts'
import type { CallersPlan } from '../options.ts'
import { circumstances, inWords } from '../report/circumstances.ts'
import { keepResults, showInReadme } from '../report/keep.ts'
import { runSteps } from '../report/progress.ts'
import { median } from '../report/statistics.ts'
import { copyWorld } from '../world/copy-world.ts'
import { type BenchWorld, makeWorld, secondsToMake } from '../world/world.ts'

const CALLERS = 100_000
const CONNECTIONS = 32
const WRITERS = 4
const LIMIT = 800
const OWN_PART = 1 / 20
/** The greedy caller asks so often in a second: the limit allows 13. */
const GREED = 400
const GREEDY_NETWORK = '203.0.113'
const OFF = { STRAND_RATE_APP: '0', STRAND_RATE_USER: '0', STRAND_RATE_ANONYMOUS: '0' }
const DEFAULT = { STRAND_RATE_APP: '', STRAND_RATE_USER: '', STRAND_RATE_ANONYMOUS: '' }

type Limits = 'off' | 'default'

interface Side {
  readonly name: string
  /** How many processes share the limits. */
  readonly processes: number
  readonly nodes: number
  readonly onPostgres: boolean
}

const SIDES: readonly Side[] = [
  { name: 'embedded store, one process', processes: 1, nodes: 1, onPostgres: false },
  { name: 'embedded store, two workers', processes: 2, nodes: 1, onPostgres: false },
  { name: 'PostgreSQL, one node', processes: 1, nodes: 1, onPostgres: true },
  { name: 'PostgreSQL, two nodes', processes: 2, nodes: 2, onPostgres: true },
]

interface Node extends Served {
  readonly controlUrl: string
}

interface Round {
  readonly reads: number
  readonly starts: number
  readonly greedy: { readonly admitted: number; readonly allowed: number }
}

interface CallersLine {
  readonly side: string
  readonly off: Round
  readonly default: Round
}

export async function runCallers(plan: CallersPlan, children: Children, folder: string): Promise<void> {
  const lines: CallersLine[] = []
  const worldFolder = join(folder, 'world')
  mkdirSync(worldFolder)
  let world: BenchWorld | undefined
  await runSteps([
    {
      name: 'creating the world',
      seconds: secondsToMake(plan.size),
      run: async () => {
        world = await makeWorld(worldFolder, plan.size, () => undefined)
      },
    },
    ...SIDES.map(side => ({
      name: side.name,
      seconds: secondsToMake(plan.size) * 2 + (plan.rounds + 1) * 2 * plan.seconds,
      run: async () => {
        if (world === undefined) throw new Error('an earlier step made it')
        lines.push(await measureSide({ plan, children, folder, world }, side))
      },
    })),
  ])
  const around = await circumstances(children)
  const pace = `${CALLERS.toLocaleString('en-US')} callers, ${plan.size.streams.toLocaleString('en-US')} live streams; medians of ${plan.rounds} rounds of ${plan.seconds} s`
  const text = `${inWords(around, pace)}\n\n${table(lines)}`
  console.log(text)
  keepResults({ '-callers.json': `${JSON.stringify({ ...around, pace, lines }, null, 2)}\n` })
  if (plan.write) showInReadme('callers', text)
}

interface Ground {
  readonly plan: CallersPlan
  readonly children: Children
  readonly folder: string
  readonly world: BenchWorld
}

async function measureSide(ground: Ground, side: Side): Promise<CallersLine> {
  const { plan } = ground
  const rounds: Record<Limits, Round[]> = { off: [], default: [] }
  // One set of servers at a time: both would share the one core that servers have here.
  for (const limits of ['off', 'default'] as const) {
    const { nodes, stop } = await startNodes(ground, side, limits)
    try {
      for (let round = 0; round <= plan.rounds; round++) {
        const measured = await measureRound(ground, nodes, side, round)
        // The first round warms up.
        if (round > 0) rounds[limits].push(measured)
      }
    } finally {
      await stop()
    }
  }
  return { side: side.name, off: middle(rounds.off), default: middle(rounds.default) }
}

function middle(rounds: readonly Round[]): Round {
  const worst = rounds.toSorted((a, b) => ratioOf(b.greedy) - ratioOf(a.greedy))[0]
  if (worst === undefined) throw new Error('there is at least one round')
  return {
    reads: median(rounds.map(each => each.reads)),
    starts: median(rounds.map(each => each.starts)),
    greedy: worst.greedy,
  }
}

const ratioOf = ({ admitted, allowed }: Round['greedy']) => admitted / allowed

async function startNodes({ children, folder, world }: Ground, side: Side, limits: Limits) {
  const postgres = side.onPostgres ? await startPostgres({ durable: true }) : undefined
  if (postgres !== undefined) await copyWorld(world.storeFile, postgres.url)
  const nodes: Node[] = []
  for (let n = 0; n < side.nodes; n++) {
    const data = side.onPostgres
      ? join(folder, `${limits}-${side.processes}-${n}-${performance.now()}`)
      : world.folder
    mkdirSync(data, { recursive: true })
    const operator = `127.0.0.1:${freePort()}`
    const settings = {
      ...(limits === 'off' ? OFF : DEFAULT),
      STRAND_TRUSTED_PROXIES: '127.0.0.1',
      STRAND_OPERATOR_LISTEN: operator,
      ...(!side.onPostgres && side.processes > 1 && { STRAND_WORKERS: String(side.processes) }),
    }
    const served = await children.startStrand(data, world.secrets, postgres?.url, settings)
    nodes.push({ ...served, controlUrl: `http://${operator}/control` })
  }
  return {
    nodes,
    stop: async () => {
      for (const node of nodes) await node.stop()
      await postgres?.stop()
    },
  }
}

async function measureRound(
  { plan, children, folder, world }: Ground,
  nodes: readonly Node[],
  side: Side,
  round: number,
): Promise<Round> {
  let isOver = false
  const began = performance.now()
  const starting = startAndEnd(world, nodes, () => isOver)
  // Another address in each round: what is left of its bucket must not matter to the next.
  const greedy = askGreedily(nodes, `${GREEDY_NETWORK}.${round}`, () => isOver)
  const reads = await Promise.all(
    nodes.map((node, index) =>
      readAsMany(children, join(folder, `${index}.lua`), node.url, nodes.length, plan.seconds),
    ),
  )
  isOver = true
  const seconds = (performance.now() - began) / 1000
  return {
    reads: reads.reduce((sum, each) => sum + each, 0),
    starts: (await starting) / seconds,
    greedy: {
      admitted: await greedy,
      allowed: LIMIT * (1 + side.processes * OWN_PART) + (LIMIT * seconds) / 60,
    },
  }
}

/** Every request comes from another address than the one before. */
async function readAsMany(
  children: Children,
  script: string,
  url: string,
  share: number,
  seconds: number,
): Promise<number> {
  writeFileSync(
    script,
    `local n = 0
function request()
  n = (n + 7919) % ${CALLERS}
  local address = "10." .. (n % 200) .. "." .. (math.floor(n / 200) % 250) .. "." .. math.floor(n / 50000)
  return wrk.format("GET", "/helix/streams?first=20", { ["X-Forwarded-For"] = address })
end
`,
  )
  const connections = Math.ceil(CONNECTIONS / share)
  const wrk = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, url]
  const output = await children.output(LOAD_CORE, wrk)
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1]
  if (refused !== undefined) throw new Error(`${refused} answers were not 2xx`)
  return Number(/Requests\/sec:\s+([0-9.]+)/.exec(output)?.[1])
}

/** Channels go live and stop, as fast as a few connections can; gives how many did either. */
async function startAndEnd(
  world: BenchWorld,
  nodes: readonly Node[],
  isOver: () => boolean,
): Promise<number> {
  let done = 0
  const headers = {
    Authorization: `Bearer ${world.secrets.operatorToken}`,
    'Content-Type': 'application/json',
  }
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = writer; !isOver(); n += WRITERS) {
        const controlUrl = nodes[n % nodes.length]?.controlUrl
        const channel = `${controlUrl}/channels/${world.liveIds[n % 100]}/stream`
        for (const init of [{ method: 'DELETE' }, { method: 'PUT', body: '{}' }]) {
          const answer = await fetch(channel, { ...init, headers })
          await answer.arrayBuffer()
          if (answer.status < 300) done += 1
        }
      }
    }),
  )
  return done
}

async function askGreedily(nodes: readonly Node[], address: string, isOver: () => boolean): Promise<number> {
  let admitted = 0
  const began = performance.now()
  const asking: Promise<void>[] = []
  for (let n = 0; !isOver(); n++) {
    await Bun.sleep(Math.max(0, began + (n * 1000) / GREED - performance.now()))
    const url = `${nodes[n % nodes.length]?.url}/helix/streams?user_id=1`
    asking.push(
      fetch(url, { headers: { 'X-Forwarded-For': address } }).then(async answer => {
        await answer.arrayBuffer()
        if (answer.status === 200) admitted += 1
      }),
    )
  }
  await Promise.all(asking)
  return admitted
}

const whole = (value: number) => Math.round(value).toLocaleString('en-US')

function table(lines: readonly CallersLine[]): string {
  return [
    '| Where | Reads/s, limits off | Reads/s, default | Ratio (goal 0.9) | Starts and ends/s, off | default | Granted to a greedy caller, of the documented maximum |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...lines.map(
      ({ side, off, default: on }) =>
        `| ${side} | ${whole(off.reads)} | ${whole(on.reads)} | **${(on.reads / off.reads).toFixed(2)}** | ${whole(off.starts)} | ${whole(on.starts)} | ${whole(on.greedy.admitted)} of ${whole(on.greedy.allowed)} |`,
    ),
    '',
  ].join('\n')
}
