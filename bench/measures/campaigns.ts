/**
 * Drops campaigns: heartbeats of viewers who earn, their minutes on the way to the store, claims over HTTP, and the memory
 * that viewers take. Where the store is PostgreSQL, server, database and generator share all cores, so processor time means
 * more than the rate.
 */
import { heapStats } from 'bun:jsc'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PlaybackSessions } from '../../src/auth/playback-sessions.ts'
import { OpenCampaigns } from '../../src/directory/open-campaigns.ts'
import { WatchTime } from '../../src/directory/watch-time.ts'
import type { ViewerSession } from '../../src/domain/playback.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { isoMillis } from '../../src/kit/time/clock.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { freePort } from '../../test/support/store/postgres.ts'
import type { BarePlan } from '../baselines/bare-server.ts'
import type { LeastPlan } from '../baselines/least-server.ts'
import { type Bench, copyStore, type Measure, type Result } from '../bench.ts'
import { sendAround } from '../load/connections.ts'
import { ALL_CORES, LOAD_CORE, moveTo, type Served } from '../load/processes.ts'
import type { BenchRequest } from '../load/request.ts'
import { processorSecondsOf } from '../load/usage.ts'
import { whole } from '../report.ts'
import { median } from '../statistics.ts'
import { type BenchWorld, SMALLEST } from '../world/world.ts'
import { askBytes } from './prepare.ts'
import { inTurns, loadOn, ratioOf, secondsOfTurns } from './rounds.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** As many as a campaign may have, so that a viewer has many to claim. */
const DROPS = 20
const CLAIMING_CONNECTIONS = 128
/** Heartbeats are limited by address: every viewer has one. */
const addressOf = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`

export const campaigns: Measure = {
  name: 'campaigns',
  seconds: ({ pace, size }) => 60 + size.streams / 1000 + secondsOfTurns(pace, 3) + 2 * 5 * pace.seconds,
  run: async bench => {
    const world = await bench.makeWorld('campaigns', { ...SMALLEST, streams: bench.plan.size.streams })
    const campaign = await addCampaign(world)
    const file = copyStore(world.storeFile, bench.folder('campaigns-flush'))
    const embedded = await measureFlush(createStore(await openSqliteEngine(file)), world)
    const heartbeats = await measureHeartbeats(bench, world)
    const claims = await measureClaims(
      bench,
      world,
      campaign,
      await bench.processes.startStrand(world.folder, { secrets: world.secrets }),
    )
    const databaseUrl = await bench.processes.startDatabase({ ...world, storeFile: file })
    const node = await bench.processes.startStrand(bench.folder('campaigns-node'), {
      secrets: world.secrets,
      databaseUrl,
      core: ALL_CORES,
    })
    const claimsOnDatabase = await measureClaims(bench, world, campaign, node)
    const engine = await openPostgresEngine(databaseUrl, { connections: 10, pooled: false })
    const database = await measureFlush(createStore(engine), world)
    return [
      { work: 'Heartbeats of viewers who earn', ...heartbeats, atLeast: 0.6 },
      { work: 'Minutes of viewers written, embedded store', ...embedded, atLeast: 40_000 },
      { work: 'Minutes of viewers written, PostgreSQL', ...database, atLeast: 10_000 },
      { work: 'Claims over HTTP, embedded store', ...claims, atLeast: 1500 },
      { work: 'Claims over HTTP, PostgreSQL', ...claimsOnDatabase, atLeast: 1000 },
      { work: 'Memory of 100,000 viewers who earn', ...(await measureMemory(world)), atMost: 25 },
    ]
  },
}

interface BenchCampaign {
  readonly id: string
  readonly drops: readonly string[]
}

/** A campaign of the first game, which a channel plays; the callers of the world have all its minutes. */
async function addCampaign(world: BenchWorld): Promise<BenchCampaign> {
  const store = createStore(await openSqliteEngine(world.storeFile))
  const [{ game_id, benefit_id } = { game_id: '', benefit_id: '' }] = world.benefits
  const [id, now] = [crypto.randomUUID(), Date.now()]
  const drops = Array.from({ length: DROPS }, (_, n) => ({
    id: crypto.randomUUID(),
    name: `Lantern ${n + 1}`,
    required_minutes: 60 + n,
    benefit_ids: [benefit_id],
  }))
  const content = {
    name: 'Reef week',
    organization_id: world.organization,
    game_id,
    starts_at: isoMillis(now - HOUR),
    ends_at: isoMillis(now + 24 * HOUR),
    drops,
  }
  await store.commands.putCampaign({ id, content, now })
  await store.commands.publishCampaign({ id, now })
  await store.commands.modifyChannel({ user_id: world.liveIds[0] ?? '', update: { game_id } })
  await Promise.all(
    world.callers.map(caller =>
      store.commands.addWatchedMinutes({ campaign_id: id, user_id: caller.id, add: 60 + DROPS, now }),
    ),
  )
  await store.close()
  return { id, drops: drops.map(each => each.id) }
}

/** The channel that is watched, and its viewers: everyone who is not a caller. */
function listViewers({ liveIds, callers }: BenchWorld): [channel: string, viewers: readonly string[]] {
  const known = new Set(callers.map(({ id }) => id))
  const [channel = '', ...others] = liveIds
  return [channel, others.filter(id => !known.has(id))]
}

const sessionsOf = (world: BenchWorld, began: number): ViewerSession[] => {
  const [channel, viewers] = listViewers(world)
  return viewers.map((viewer, n) => ({ id: String(n), user_id: channel, watches: 'live', began, viewer }))
}

/** What a node has in memory, with a clock that is moved. */
async function openWatchTime(store: Store, { benefits }: BenchWorld, clock: { now(): number }) {
  const open = new OpenCampaigns(store, clock)
  ;(await open.load())()
  const findGame = () => benefits[0]?.game_id
  return new WatchTime({ store, clock, campaigns: open, findGame, mostPerNetwork: 1e6, hasOwnClock: true })
}

/** Every viewer has a minute, again and again; the first time, rows are made. */
async function measureFlush(store: Store, world: BenchWorld) {
  moveTo(ALL_CORES, process.pid)
  const clock = { time: Date.now(), now: () => clock.time }
  const watchTime = await openWatchTime(store, world, clock)
  const sessions = sessionsOf(world, clock.time - HOUR)
  const [rates, costs]: [number[], number[]] = [[], []]
  for (let minute = 0; minute < 4; minute++) {
    clock.time += MINUTE
    for (const session of sessions) await watchTime.beat(session, undefined)
    const [began, used] = [performance.now(), process.cpuUsage()]
    await watchTime.close()
    const { user, system } = process.cpuUsage(used)
    rates.push((sessions.length * 1000) / (performance.now() - began))
    costs.push((user + system) / sessions.length)
  }
  await store.close()
  moveTo(LOAD_CORE, process.pid)
  const details = `each takes ${median(costs.slice(1)).toFixed(1)} µs of the node; ${whole(rates[0] ?? 0)}/s the first time`
  return { value: median(rates.slice(1)), unit: '/s', details }
}

async function measureHeartbeats(bench: Bench, world: BenchWorld): Promise<Omit<Result, 'work'>> {
  const { secrets } = world
  const [id = '', key = ''] = secrets.masterKeys.split(':')
  const minter = new PlaybackSessions(new KeyRing([{ id, bytes: Buffer.from(key, 'base64') }]))
  const requests: BenchRequest[] = sessionsOf(world, 0).map((session, n) => ({
    method: 'POST',
    path: '/playback/heartbeat',
    from: addressOf(n),
    body: { session: minter.mint(session, Date.now() - HOUR).session },
  }))
  const settings = {
    STRAND_TRUSTED_PROXIES: '127.0.0.1',
    STRAND_OPERATOR_LISTEN: `127.0.0.1:${await freePort()}`,
  }
  const strand = await bench.processes.startStrand(world.folder, { secrets, settings })
  // All of them once: the server then knows them.
  const circles = Array.from({ length: 32 }, (_, n) => requests.filter((__, index) => index % 32 === n))
  await Promise.all(circles.map(circle => sendOnce(strand, circle)))
  const body = await askBytes(strand, requests[0] as BenchRequest)
  if (body.includes('reason')) throw new Error(`a heartbeat earns nothing: ${body}`)
  const bodyFile = join(bench.folder('campaigns'), 'body')
  writeFileSync(bodyFile, body)
  const bare = await bench.processes.startBaseline('bare-server', { bodyFile } satisfies BarePlan)
  const least = await bench.processes.startBaseline('least-server', {
    operation: 'POST /playback/heartbeat',
    storeFile: copyStore(world.storeFile, bench.folder('campaigns-least')),
    masterKeys: secrets.masterKeys,
    publicUrl: '',
  } satisfies LeastPlan)
  const servers = [bare, least, strand]
  const sides = servers.map(server => loadOn(bench, server, { requests, body }))
  const [ofBare = [], ofLeast = [], ofStrand = []] = await inTurns(bench.plan.pace, sides)
  for (const server of servers) await server.stop()
  const { value, unit, details } = ratioOf('', 'perSecond', ofStrand, ofBare, 'the bare server')
  const costs = [ofStrand, ofLeast, ofBare].map(side => median(side.map(({ cost }) => cost ?? Number.NaN)))
  const [ours, ofTheLeast, bareCost] = costs.map(cost => `${cost.toFixed(1)} µs`)
  return {
    value,
    unit,
    details: `${details}; processor time ${ours}, of the least server ${ofTheLeast}, of the bare one ${bareCost}`,
  }
}

async function sendOnce(strand: Served, requests: readonly BenchRequest[]): Promise<void> {
  for (const request of requests) await askBytes(strand, request)
}

/** Every claim is a new one: the runtime compiles what runs often with some of the drops, and each round has others. */
async function measureClaims(
  { plan: { pace } }: Bench,
  { callers }: BenchWorld,
  { drops }: BenchCampaign,
  strand: Served,
) {
  const claim = async (chosen: readonly string[], seconds: number) => {
    const claims = chosen.flatMap(drop_id =>
      callers.map(({ token }): BenchRequest => {
        return { method: 'POST', path: '/drops/claims', token, body: { drop_id } }
      }),
    )
    const circles = Array.from({ length: CLAIMING_CONNECTIONS }, (_, n) =>
      claims.filter((__, index) => index % CLAIMING_CONNECTIONS === n),
    )
    const before = processorSecondsOf(strand.pid)
    // A store that is overloaded rejects some with 503.
    const load = { url: strand.url, seconds, circles, countsRejected: true }
    const { perSecond, rejected } = await sendAround(load)
    const count = perSecond * seconds
    const cost = (processorSecondsOf(strand.pid) - before) / count
    return { perSecond, count, rejected, most: claims.length, cost }
  }
  const perRound = Math.floor(drops.length / (pace.rounds + 2))
  await claim(drops.slice(-2 * perRound), pace.warmUpSeconds)
  const rounds = []
  for (let round = 0; round < pace.rounds; round++) {
    const done = await claim(drops.slice(round * perRound, (round + 1) * perRound), Math.min(2, pace.seconds))
    if (done.count > done.most) throw new Error(`${done.most} claims are too few for a round`)
    rounds.push(done)
  }
  await strand.stop()
  const cost = median(rounds.map(each => each.cost)) * 1e6
  const rejected = rounds.reduce((sum, each) => sum + each.rejected, 0)
  const details = `each takes ${whole(cost)} µs of the server, ${CLAIMING_CONNECTIONS} connections, ${rejected} rejected`
  return { value: median(rounds.map(each => each.perSecond)), unit: '/s', details }
}

/** Of viewers with a network each, after their first minute was written. */
async function measureMemory(world: BenchWorld) {
  const store = createStore(await openSqliteEngine(world.storeFile))
  const watchTime = await openWatchTime(store, world, { now: () => Date.now() })
  const texts = sessionsOf(world, Date.now() - HOUR).map(session => JSON.stringify(session))
  const used = () => {
    Bun.gc(true)
    const { heapSize, extraMemorySize } = heapStats()
    return heapSize + extraMemorySize
  }
  const before = used()
  // Every session is read from text, as those of heartbeats are.
  for (const [n, text] of texts.entries()) await watchTime.beat(JSON.parse(text), addressOf(n))
  await watchTime.close()
  const megabytes = ((used() - before) / 1e6) * (100_000 / texts.length)
  await store.close()
  const details = `${whole((megabytes * 1e6) / 100_000)} bytes each, of ${whole(texts.length)}`
  return { value: megabytes, unit: 'MB', details }
}
