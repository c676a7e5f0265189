/**
 * What a request costs `strand demo` in processor time, compared with `strand serve` on a copy of the same world: journal,
 * faults, movable clock and moving viewer counts.
 */
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { World } from '../../src/demo/described-world.ts'
import { openSqlite } from '../../src/store/sqlite/sqlite-connection.ts'
import type { Measure, Result } from '../bench.ts'
import { ask, type BenchRequest } from '../load/http.ts'
import { loadOn } from '../load/wrk.ts'
import { compareCosts, inTurns } from './compare.ts'

const DROPS = '/helix/entitlements/drops'
const MARKERS = '/helix/streams/markers'

/** Short answers and long ones, from the response cache, from memory and from the store, and writes. */
function requestsIn({ client, broadcaster, users }: World, held: readonly string[]) {
  const [app, own] = [{ token: client.app_token }, { token: broadcaster.token }]
  const me = broadcaster.id
  const mark = { user_id: me, description: 'jump' }
  const login = new URLSearchParams({ client_id: client.id, client_secret: client.secret })
  const update = (fulfillment_status: string): BenchRequest => {
    return { method: 'PATCH', path: DROPS, ...app, body: { entitlement_ids: held, fulfillment_status } }
  }
  return {
    'GetStreams, top page of 20': [{ path: '/helix/streams' }],
    GetUsers: [{ path: `/helix/users?${users.map(({ id }) => `id=${id}`).join('&')}`, ...app }],
    GetChannelInformation: [{ path: `/helix/channels?broadcaster_id=${me}`, ...app }],
    SearchChannels: [{ path: '/helix/search/channels?query=a', ...app }],
    GetStreamMarkers: [{ path: `${MARKERS}?user_id=${me}`, ...own }],
    'GetDropsEntitlements, page of 20': [{ path: `${DROPS}?first=20`, ...app }],
    CreateStreamMarker: [{ method: 'POST', path: MARKERS, ...own, body: mark }],
    'UpdateDropsEntitlements, 20 ids': [update('FULFILLED'), update('CLAIMED')],
    // The last: a client has a limited number of tokens, so new ones end those above.
    CreateToken: [{ method: 'POST', path: `/oauth2/token?grant_type=client_credentials&${login}` }],
  } satisfies Record<string, BenchRequest[]>
}

export const demo: Measure = {
  name: 'demo',
  run: async bench => {
    const [folder, copy] = [bench.folder('demo'), join(bench.folder('served'), 'data')]
    const worldFile = join(folder, 'world.json')
    const command = ['demo', '--rtmp-port', '0', '--world', worldFile]
    const startDemo = () => bench.processes.startStrand(folder, { command })
    // The world is made, and copied while no process has it open.
    await (await startDemo()).stop()
    cpSync(folder, copy, { recursive: true })
    forgetDemo(join(copy, 'strand.db'))
    const servers = [await startDemo(), await bench.processes.startStrand(copy)] as const
    const world: World = JSON.parse(readFileSync(worldFile, 'utf8'))
    const page = await ask(servers[0], { path: `${DROPS}?first=20`, token: world.client.app_token })
    const held = JSON.parse(page.toString()).data.map(({ id }: { id: string }) => id)
    const results: Result[] = []
    for (const [work, requests] of Object.entries<BenchRequest[]>(requestsIn(world, held))) {
      const body = await ask(servers[0], requests[0] ?? { path: '/' })
      const sides = servers.map(server => loadOn(bench, server, { requests, body }))
      const [inDemo = [], inServe = []] = await inTurns(bench.plan.pace, sides)
      results.push({ ...compareCosts(work, inDemo, inServe, 'of serve', 'cost'), atMost: 1.3 })
    }
    await Promise.all(servers.map(server => server.stop()))
    return results
  },
}

/** Without the fact that makes the program refuse to serve it. */
function forgetDemo(storeFile: string): void {
  using store = openSqlite(storeFile, 'write')
  store.run("delete from facts where name = 'demo world'")
}
