/**
 * What events cost. How much slower changes are with subscriptions in the store, which match them or not; how fast events
 * arrive by webhook and by WebSocket; and what a WebSocket needs that is open. On the embedded store and on PostgreSQL.
 */
import { constants, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { startPostgres } from '../../test/support/postgres.ts'
import type { Children, Served } from '../load/children.ts'
import { memoryOf, processorSecondsOf } from '../load/process-usage.ts'
import type { EventsPlan } from '../options.ts'
import { circumstances, inWords } from '../report/circumstances.ts'
import { keepResults, showInReadme } from '../report/keep.ts'
import { output, runSteps, type Step } from '../report/progress.ts'
import { median } from '../report/statistics.ts'
import type { BenchRequest } from '../scenarios/scenario.ts'
import { copyWorld } from '../world/copy-world.ts'
import { type BenchWorld, makeWorld, secondsToMake, updateBatches } from '../world/world.ts'
import type { ChangesResult } from './changes.ts'
import type { ConnectionsPlan } from './connections.ts'
import type { DeliveriesPlan, DeliveriesResult } from './deliveries.ts'
import type { SocketsPlan, SocketsResult } from './sockets.ts'
import { subscribe, untilEnabled, type Wanted } from './subscribe.ts'
import {
  type CostLine,
  type DeliveryLine,
  type SocketsLine,
  SUBSCRIBED,
  type Subscribed,
  toTables,
} from './tables.ts'

const ENGINES = ['embedded store', 'PostgreSQL'] as const
type EngineName = (typeof ENGINES)[number]

const SUBSCRIPTIONS = 100
const CONNECTIONS = 32
/** Changed by each connection of the starts, so that a channel is not started and ended by two at once. */
const CHANNELS_OF_CONNECTION = 1
const SOCKETS = 10_000
const HOLD_SECONDS = 6
const PACED = { perSecond: 100, seconds: 10 }
const SETTINGS = { STRAND_EVENT_CALLBACKS: 'any', STRAND_EVENT_SOCKETS: String(2 * SOCKETS) }

interface Work {
  readonly name: string
  /** Subscribed to by the one subscription that matches. */
  readonly matching: { readonly type: string; readonly condition: Readonly<Record<string, string>> }[]
  readonly circles: readonly (readonly BenchRequest[])[]
}

/** A store with its server, for each of the three. */
type Sides = Readonly<Record<Subscribed, Served>>

interface Found {
  readonly costs: CostLine[]
  readonly deliveries: DeliveryLine[]
  readonly sockets: SocketsLine[]
}

interface Ground {
  readonly plan: EventsPlan
  readonly children: Children
  readonly folder: string
  readonly found: Found
  world(): BenchWorld
}

export async function runEvents(plan: EventsPlan, children: Children, folder: string): Promise<void> {
  let made: BenchWorld | undefined
  const found: Found = { costs: [], deliveries: [], sockets: [] }
  const world = () => {
    if (made === undefined) throw new Error('an earlier step made it')
    return made
  }
  const ground: Ground = { plan, children, folder, found, world }
  await runSteps([
    {
      name: 'creating the world',
      seconds: secondsToMake(plan.size),
      run: async () => {
        mkdirSync(join(folder, 'world'))
        made = await makeWorld(join(folder, 'world'), plan.size, () => undefined)
      },
    },
    ...ENGINES.map(engine => stepOf(ground, engine)),
  ])
  const around = await circumstances(children)
  const pace = `${plan.size.streams.toLocaleString('en-US')} live streams; medians of ${plan.rounds} rounds of ${plan.seconds} s`
  const text = `${inWords(around, pace)}\n\n${toTables(found)}`
  console.log(text)
  keepResults({ '-events.json': `${JSON.stringify({ ...around, pace, ...found }, null, 2)}\n` })
  if (plan.write) showInReadme('events', text)
}

function stepOf(ground: Ground, engine: EngineName): Step {
  const { plan, children, folder, found, world } = ground
  return {
    name: engine,
    seconds: 120 + (plan.rounds + 1) * plan.seconds * 12,
    run: async () => {
      const { sides, stop } = await startSides(ground, engine)
      const receiver = await children.startReceiver()
      try {
        const works = plan.parts.includes('changes') ? worksIn(world()) : []
        for (const work of works) {
          const cost = await measureCost(ground, sides, work, receiver.url)
          found.costs.push({ engine, work: work.name, cost })
          output(toTables({ costs: found.costs.slice(-1), deliveries: [], sockets: [] }))
        }
        await receiver.stop()
        const where = { children, folder, world: world(), server: sides.none }
        if (plan.parts.includes('sockets') && engine === 'embedded store')
          found.sockets.push(await measureSockets(where))
        const transports = plan.parts.includes('deliveries') ? (['webhook', 'websocket'] as const) : []
        for (const transport of transports)
          found.deliveries.push({ engine, transport, ...(await measureDeliveries(where, transport, plan)) })
      } finally {
        await stop()
      }
    },
  }
}

async function startSides({ children, folder, world }: Ground, engine: EngineName) {
  const { secrets, storeFile } = world()
  const postgres = engine === 'PostgreSQL' ? await startPostgres({ durable: true }) : undefined
  const servers: [Subscribed, Served][] = []
  const stop = async () => {
    for (const [, server] of servers) await server.stop()
    await postgres?.stop()
  }
  try {
    if (postgres !== undefined) await copyWorld(storeFile, postgres.url)
    for (const name of SUBSCRIBED) {
      const data = join(folder, `${engine}-${name}`)
      mkdirSync(data)
      const databaseUrl = postgres && (await copyDatabase(postgres.url, name))
      if (postgres === undefined) copyFileSync(storeFile, join(data, 'strand.db'), constants.COPYFILE_FICLONE)
      servers.push([name, await children.startStrand(data, secrets, databaseUrl, SETTINGS)])
    }
    return { sides: Object.fromEntries(servers) as unknown as Sides, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function copyDatabase(url: string, name: string): Promise<string> {
  const copy = new URL(url)
  copy.pathname = `/bench_${name}`
  const admin = new SQL(new URL('/template1', url).href, { max: 1 })
  await admin.unsafe(`create database bench_${name} template postgres`)
  await admin.close()
  return copy.href
}

function worksIn(world: BenchWorld): Work[] {
  const { appToken, secrets, organization, liveIds } = world
  const update = (body: unknown): BenchRequest => ({
    method: 'PATCH',
    path: '/helix/entitlements/drops',
    token: appToken,
    body,
  })
  const batches = updateBatches(world)
  const single = ({ entitlement_ids, ...status }: (typeof batches)[number]) =>
    entitlement_ids.map(id => update({ entitlement_ids: [id], ...status }))
  const matching = [{ type: 'strand.entitlement.update', condition: { organization_id: organization } }]
  const channels = liveIds.slice(-CONNECTIONS * CHANNELS_OF_CONNECTION)
  return [
    { name: 'UpdateDropsEntitlements, 100 ids', matching, circles: dealt(batches.map(update)) },
    { name: 'UpdateDropsEntitlements, 1 id', matching, circles: dealt(batches.flatMap(single)) },
    {
      name: 'stream ends and starts',
      matching: channels.flatMap(id =>
        ['stream.online', 'stream.offline'].map(type => ({ type, condition: { broadcaster_user_id: id } })),
      ),
      circles: channels.map(id => {
        const path = `/control/channels/${id}/stream`
        const token = secrets.operatorToken
        return [
          { method: 'PUT', path, token, body: {} },
          { method: 'DELETE', path, token },
        ]
      }),
    },
  ]
}

/** One circle for each connection. */
function dealt(requests: readonly BenchRequest[]): BenchRequest[][] {
  return Array.from({ length: CONNECTIONS }, (_, index) =>
    requests.filter((_, request) => request % CONNECTIONS === index),
  )
}

async function measureCost(
  { plan, children, folder, world }: Ground,
  sides: Sides,
  work: Work,
  receiver: string,
): Promise<CostLine['cost']> {
  const { appToken, callers } = world()
  const callback = `${receiver}/${encodeURIComponent(work.name)}`
  const subscribeOn = async (url: string, all: readonly Pick<Wanted, 'type' | 'condition'>[]) => {
    const ends: (() => Promise<void>)[] = []
    for (const each of all) ends.push(await subscribe(url, appToken, { ...each, transport: { callback } }))
    await untilEnabled(url, appToken)
    return async () => {
      for (const end of ends) await end()
    }
  }
  const others = callers.slice(0, SUBSCRIPTIONS).map(({ id }) => ({
    type: 'stream.online',
    condition: { broadcaster_user_id: id },
  }))
  await subscribeOn(sides.others.url, others)
  await subscribeOn(sides.one.url, others.slice(Math.min(SUBSCRIPTIONS, work.matching.length)))
  const rounds: Record<Subscribed, { perSecond: number; milliseconds: number }[]> = {
    none: [],
    others: [],
    one: [],
  }
  const planFile = join(folder, 'changes.json')
  for (let round = 0; round <= plan.rounds; round++) {
    for (const name of SUBSCRIBED) {
      const { url, pid } = sides[name]
      const { circles } = work
      writeFileSync(
        planFile,
        JSON.stringify({ url, circles, seconds: plan.seconds } satisfies ConnectionsPlan),
      )
      // Ended after the round, and with it the events that are still to be sent.
      const end = name === 'one' ? await subscribeOn(url, work.matching) : undefined
      const before = processorSecondsOf(pid)
      const { answered, seconds } = await children.runScript<ChangesResult>(
        'bench/events/changes.ts',
        planFile,
      )
      const used = processorSecondsOf(pid) - before
      await end?.()
      await untilIdle(pid)
      // The first round warms up.
      if (round > 0)
        rounds[name].push({ perSecond: answered / seconds, milliseconds: (used * 1000) / answered })
    }
  }
  const middle = (name: Subscribed) => ({
    perSecond: median(rounds[name].map(each => each.perSecond)),
    milliseconds: median(rounds[name].map(each => each.milliseconds)),
    ratio: median(rounds[name].map((each, round) => each.perSecond / (rounds.none[round]?.perSecond ?? 0))),
  })
  return { none: middle('none'), others: middle('others'), one: middle('one') }
}

const LOOK_MILLISECONDS = 500
const MAX_LOOKS = 240
const IDLE_SHARE = 0.05

/** Waits until a server has finished its work: the next round is another one's. */
async function untilIdle(pid: number): Promise<void> {
  for (let look = 0; look < MAX_LOOKS; look++) {
    const before = processorSecondsOf(pid)
    await Bun.sleep(LOOK_MILLISECONDS)
    if (processorSecondsOf(pid) - before < (IDLE_SHARE * LOOK_MILLISECONDS) / 1000) return
  }
}

interface Where {
  readonly children: Children
  readonly folder: string
  readonly world: BenchWorld
  readonly server: Served
}

async function measureDeliveries(
  { children, folder, world, server: { url, pid } }: Where,
  transport: 'webhook' | 'websocket',
  { seconds }: EventsPlan,
): Promise<DeliveriesResult & { milliseconds: number }> {
  const { marking, appToken } = world
  const planFile = join(folder, 'deliveries.json')
  const plan: DeliveriesPlan = { url, transport, appToken, marking, burstSeconds: seconds, paced: PACED }
  writeFileSync(planFile, JSON.stringify(plan))
  const before = processorSecondsOf(pid)
  const result = await children.runScript<DeliveriesResult>('bench/events/deliveries.ts', planFile)
  const milliseconds = ((processorSecondsOf(pid) - before) * 1000) / result.events
  await untilIdle(pid)
  return { ...result, milliseconds }
}

async function measureSockets({ children, folder, world, server }: Where): Promise<SocketsLine> {
  const { url, pid } = server
  const users = [...world.callers, ...world.followers]
  const planFile = join(folder, 'sockets.json')
  const plan: SocketsPlan = { url, count: SOCKETS, users, holdSeconds: HOLD_SECONDS }
  writeFileSync(planFile, JSON.stringify(plan))
  const before = memoryOf(pid).resident
  const looks: { at: number; resident: number }[] = []
  const timer = setInterval(
    () => looks.push({ at: performance.now(), resident: memoryOf(pid).resident }),
    LOOK_MILLISECONDS,
  )
  const result = await children.runScript<SocketsResult>('bench/events/sockets.ts', planFile)
  const end = performance.now()
  clearInterval(timer)
  const held = looks.filter(({ at }) => at > end - (HOLD_SECONDS * 1000) / 2 && at < end - LOOK_MILLISECONDS)
  const resident = median(held.map(each => each.resident))
  await untilIdle(pid)
  return { count: SOCKETS, ...result, kilobytes: ((resident - before) * 1024) / SOCKETS }
}
