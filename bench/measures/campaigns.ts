/**
 * Drops campaigns: heartbeats of viewers who earn, and claims over HTTP. Where the store is PostgreSQL, server, database and
 * generator share all cores, so processor time means more than the rate.
 */
import { join } from 'node:path'
import { PlaybackSessions } from '../../src/auth/playback-sessions.ts'
import { KeyRing, parseMasterKeys } from '../../src/kit/crypto/key-ring.ts'
import { isoMillis } from '../../src/kit/time/clock.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { createStore } from '../../src/store/store.ts'
import { freePort } from '../../test/support/store/postgres.ts'
import { type Bench, copyStore, type Measure, type Plan, type Result } from '../bench.ts'
import { ask, type BenchRequest, send } from '../load/http.ts'
import { ALL_CORES, type Served } from '../load/processes.ts'
import { processorSecondsOf } from '../load/usage.ts'
import { loadOn } from '../load/wrk.ts'
import { whole } from '../report.ts'
import { median, ofRounds } from '../statistics.ts'
import { type BenchWorld, SMALLEST } from '../world/world.ts'
import { compareCosts, inTurns } from './compare.ts'

const HOUR = 3_600_000
/** As many as a campaign may have, so that a viewer has many to claim. */
const DROPS = 20

export const campaigns: Measure = {
  name: 'campaigns',
  run: async bench => {
    const { processes, plan } = bench
    const world = await bench.makeWorld('campaigns', { ...SMALLEST, streams: plan.size.streams })
    const { secrets } = world
    const claims = await addCampaign(world)
    const copy = copyStore(world.storeFile, bench.folder('campaigns-copy'))
    const heartbeats = await measureHeartbeats(bench, world)
    const embedded = await processes.startStrand(world.folder, { secrets })
    const alone = await measureClaims(plan, claims, embedded)
    const databaseUrl = await processes.startDatabase({ storeFile: join(copy, 'strand.db') })
    const options = { secrets, databaseUrl, core: ALL_CORES }
    const node = await processes.startStrand(bench.folder('campaigns-node'), options)
    const claimsOfNode = await measureClaims(plan, claims, node)
    return [
      { ...heartbeats, atLeast: 0.6 },
      { work: 'Claims over HTTP, embedded store', ...alone, atLeast: 1500 },
      { work: 'Claims over HTTP, PostgreSQL', ...claimsOfNode, atLeast: 1000 },
    ]
  },
}

/** A campaign of the first game, which a channel plays; the callers of the world have all its minutes. Gives their claims. */
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
  const claim = { method: 'POST', path: '/drops/claims' } as const
  return drops.flatMap(({ id: drop_id }) =>
    callers.map(({ token }) => ({ ...claim, token, body: { drop_id } })),
  )
}

async function measureHeartbeats(bench: Bench, world: BenchWorld): Promise<Result> {
  const { secrets, folder } = world
  const minter = new PlaybackSessions(new KeyRing(parseMasterKeys(secrets.masterKeys) ?? []))
  const [user_id = '', ...others] = world.liveIds
  const known = new Set(world.callers.map(({ id }) => id))
  // Of everyone who is not a caller, on one channel.
  const viewers = others.filter(id => !known.has(id))
  const requests: BenchRequest[] = viewers.map((viewer, n) => {
    const session = { id: String(n), user_id, watches: 'live', began: 0, viewer } as const
    const body = { session: minter.mint(session, Date.now() - HOUR).session }
    // Heartbeats are limited by address: every viewer has one.
    const headers = { 'X-Forwarded-For': `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` }
    return { method: 'POST', path: '/playback/heartbeat', headers, body }
  })
  const listener = `127.0.0.1:${await freePort()}`
  const settings = { STRAND_TRUSTED_PROXIES: '127.0.0.1', STRAND_OPERATOR_LISTEN: listener }
  const strand = await bench.processes.startStrand(folder, { secrets, settings })
  // All of them once: the server then knows them.
  await send(strand, { requests: requests.values(), connections: 32, seconds: 300 })
  const body = await ask(strand, requests[0] as BenchRequest)
  if (body.includes('reason')) throw new Error(`a heartbeat earns nothing: ${body}`)
  const bare = await bench.processes.startBaseline('bare-server', { body: body.toString() })
  const sides = [strand, bare].map(server => loadOn(bench, server, { requests, body }))
  const [ofStrand = [], ofBare = []] = await inTurns(bench.plan.pace, sides)
  for (const server of [strand, bare]) await server.stop()
  // The generator is the limit of the bare server, so the rate is what the goal is about; processor time stands beside it.
  const ratios = ofStrand.map(({ perSecond }, n) => perSecond / (ofBare[n]?.perSecond ?? Number.NaN))
  const [work, unit] = ['Heartbeats of viewers who earn', 'of the rate of the bare server']
  return { ...compareCosts(work, ofStrand, ofBare, unit), ...ofRounds(ratios) }
}

/** No claim is sent twice. */
async function measureClaims({ pace }: Plan, claims: readonly BenchRequest[], strand: Served) {
  const requests = claims.values()
  const { seconds } = pace
  const claim = async () => {
    const before = processorSecondsOf(strand.pid)
    // A store that is overloaded rejects some with 503.
    const { perSecond, rejected } = await send(strand, { requests, connections: 128, seconds })
    return { perSecond, rejected, cost: (processorSecondsOf(strand.pid) - before) / (perSecond * seconds) }
  }
  await claim()
  const rounds: Awaited<ReturnType<typeof claim>>[] = []
  for (let round = 0; round < Math.min(pace.rounds, 7); round++) rounds.push(await claim())
  if (requests.next().done) throw new Error(`${claims.length} claims are too few`)
  await strand.stop()
  const cost = median(rounds.map(each => each.cost)) * 1e6
  const rejected = rounds.reduce((sum, each) => sum + each.rejected, 0)
  const details = `each takes ${whole(cost)} µs of the server, 128 connections, ${rejected} rejected`
  return { value: median(rounds.map(each => each.perSecond)), unit: '/s', details }
}
