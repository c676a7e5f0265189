/**
 * Drops campaigns: heartbeats of viewers who earn, and claims over HTTP. Where the store is PostgreSQL, server, database and
 * generator share all cores, so processor time means more than the rate.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PlaybackSessions } from '../../src/auth/playback-sessions.ts'
import type { ViewerSession } from '../../src/domain/playback.ts'
import { KeyRing, parseMasterKeys } from '../../src/kit/crypto/key-ring.ts'
import { isoMillis } from '../../src/kit/time/clock.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { createStore } from '../../src/store/store.ts'
import { freePort } from '../../test/support/store/postgres.ts'
import type { BarePlan } from '../baselines/bare-server.ts'
import { type Bench, copyStore, type Measure, type Result } from '../bench.ts'
import { whole } from '../format.ts'
import { deal, sendAround } from '../load/connections.ts'
import { ALL_CORES, type Served } from '../load/processes.ts'
import type { BenchRequest } from '../load/request.ts'
import { processorSecondsOf } from '../load/usage.ts'
import { median } from '../statistics.ts'
import { type BenchWorld, SMALLEST } from '../world/world.ts'
import { askBytes } from './prepare.ts'
import { compareCosts, inTurns, loadOn, secondsOfTurns } from './rounds.ts'

const HOUR = 3_600_000
/** As many as a campaign may have, so that a viewer has many to claim. */
const DROPS = 20
const CLAIMING_CONNECTIONS = 128

export const campaigns: Measure = {
  name: 'campaigns',
  block: 'campaigns',
  seconds: ({ pace, size }) => 60 + size.streams / 1500 + secondsOfTurns(pace, 2) + 2 * 5 * pace.seconds,
  run: async bench => {
    const { processes, plan } = bench
    const world = await bench.makeWorld('campaigns', { ...SMALLEST, streams: plan.size.streams })
    const { secrets } = world
    const drops = await addCampaign(world)
    const store = { ...world, storeFile: copyStore(world.storeFile, bench.folder('campaigns-copy')) }
    const heartbeats = await measureHeartbeats(bench, world)
    const embedded = await processes.startStrand(world.folder, { secrets })
    const claims = await measureClaims(bench, world, drops, embedded)
    const options = { secrets, databaseUrl: await processes.startDatabase(store), core: ALL_CORES }
    const node = await processes.startStrand(bench.folder('campaigns-node'), options)
    return [
      { ...heartbeats, atLeast: 0.6 },
      { work: 'Claims over HTTP, embedded store', ...claims, atLeast: 1500 },
      {
        work: 'Claims over HTTP, PostgreSQL',
        ...(await measureClaims(bench, world, drops, node)),
        atLeast: 1000,
      },
    ]
  },
}

/** A campaign of the first game, which a channel plays; the callers of the world have all its minutes. Gives its drops. */
async function addCampaign({ storeFile, benefits, organization, liveIds, callers }: BenchWorld) {
  const store = createStore(await openSqliteEngine(storeFile))
  const [{ game_id, benefit_id } = { game_id: '', benefit_id: '' }] = benefits
  const [campaign_id, now] = [crypto.randomUUID(), Date.now()]
  const drops = Array.from({ length: DROPS }, (_, n) => {
    const required_minutes = 60 + n
    return { id: crypto.randomUUID(), name: `Lantern ${n + 1}`, required_minutes, benefit_ids: [benefit_id] }
  })
  const times = { starts_at: isoMillis(now - HOUR), ends_at: isoMillis(now + 24 * HOUR) }
  const content = { name: 'Reef week', organization_id: organization, game_id, ...times, drops }
  await store.commands.putCampaign({ id: campaign_id, content, now })
  await store.commands.publishCampaign({ id: campaign_id, now })
  await store.commands.modifyChannel({ user_id: liveIds[0] ?? '', update: { game_id } })
  const add = 60 + DROPS
  await Promise.all(
    callers.map(({ id: user_id }) => store.commands.addWatchedMinutes({ campaign_id, user_id, add, now })),
  )
  await store.close()
  return drops.map(each => each.id)
}

/** Of everyone who is not a caller, on one channel. */
function listSessions({ liveIds, callers }: BenchWorld, began: number): ViewerSession[] {
  const known = new Set(callers.map(({ id }) => id))
  const [user_id = '', ...others] = liveIds
  const viewers = others.filter(id => !known.has(id))
  return viewers.map((viewer, n) => ({ id: String(n), user_id, watches: 'live', began, viewer }))
}

async function measureHeartbeats(bench: Bench, world: BenchWorld): Promise<Result> {
  const { secrets, folder } = world
  const minter = new PlaybackSessions(new KeyRing(parseMasterKeys(secrets.masterKeys) ?? []))
  const requests: BenchRequest[] = listSessions(world, 0).map((session, n) => {
    const body = { session: minter.mint(session, Date.now() - HOUR).session }
    // Heartbeats are limited by address: every viewer has one.
    const from = `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`
    return { method: 'POST', path: '/playback/heartbeat', from, body }
  })
  const listener = `127.0.0.1:${await freePort()}`
  const settings = { STRAND_TRUSTED_PROXIES: '127.0.0.1', STRAND_OPERATOR_LISTEN: listener }
  const strand = await bench.processes.startStrand(folder, { secrets, settings })
  // All of them once: the server then knows them.
  const sendOnce = async (circle: readonly BenchRequest[]) => {
    for (const request of circle) await askBytes(strand, request)
  }
  await Promise.all(deal(requests, 32).map(sendOnce))
  const body = await askBytes(strand, requests[0] as BenchRequest)
  if (body.includes('reason')) throw new Error(`a heartbeat earns nothing: ${body}`)
  const bodyFile = join(bench.folder('campaigns'), 'body')
  writeFileSync(bodyFile, body)
  const bare = await bench.processes.startBaseline('bare-server', { bodyFile } satisfies BarePlan)
  const sides = [strand, bare].map(server => loadOn(bench, server, { requests, body }))
  const [ofStrand = [], ofBare = []] = await inTurns(bench.plan.pace, sides)
  for (const server of [strand, bare]) await server.stop()
  const result = compareCosts(
    'Heartbeats of viewers who earn',
    ofStrand,
    ofBare,
    'of the rate of the bare server',
  )
  // The generator is the limit of the bare server, so the rate is what the goal is about; processor time stands beside it.
  const ratios = ofStrand.map(({ perSecond }, n) => perSecond / (ofBare[n]?.perSecond ?? Number.NaN))
  return { ...result, value: median(ratios), spread: [Math.min(...ratios), Math.max(...ratios)] }
}

/** Every claim is a new one: the runtime compiles what runs often with some of the drops, and each round has others. */
async function measureClaims(
  { plan: { pace } }: Bench,
  { callers }: BenchWorld,
  drops: readonly string[],
  strand: Served,
) {
  const claim = async (chosen: readonly string[], seconds: number) => {
    const claims = chosen.flatMap(drop_id =>
      callers.map(({ token }): BenchRequest => {
        return { method: 'POST', path: '/drops/claims', token, body: { drop_id } }
      }),
    )
    const before = processorSecondsOf(strand.pid)
    const circles = deal(claims, CLAIMING_CONNECTIONS)
    // A store that is overloaded rejects some with 503.
    const { perSecond, rejected } = await sendAround({ url: strand.url, seconds, circles })
    if (perSecond * seconds > claims.length)
      throw new Error(`${claims.length} claims are too few for a round`)
    return { perSecond, rejected, cost: (processorSecondsOf(strand.pid) - before) / (perSecond * seconds) }
  }
  const perRound = Math.floor(drops.length / (pace.rounds + 2))
  await claim(drops.slice(-2 * perRound), 2)
  const rounds: Awaited<ReturnType<typeof claim>>[] = []
  for (let round = 0; round < pace.rounds; round++)
    rounds.push(await claim(drops.slice(round * perRound, (round + 1) * perRound), Math.min(2, pace.seconds)))
  await strand.stop()
  const cost = median(rounds.map(each => each.cost)) * 1e6
  const rejected = rounds.reduce((sum, each) => sum + each.rejected, 0)
  const details = `each takes ${whole(cost)} µs of the server, ${CLAIMING_CONNECTIONS} connections, ${rejected} rejected`
  return { value: median(rounds.map(each => each.perSecond)), unit: '/s', details }
}
