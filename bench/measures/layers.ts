/**
 * What the layers above the statement of a handler cost: each in a loop on a request that came over a connection, and all of
 * them together as the difference between Strand and the least server, which has none.
 */
import { Callers, cachedCaller } from '../../src/auth/callers.ts'
import { SiteTokens } from '../../src/auth/site-tokens.ts'
import { hashToken, mintSecret } from '../../src/auth/tokens.ts'
import { getDropsEntitlements } from '../../src/contract/helix/get-drops-entitlements.ts'
import { ForwardedAddresses } from '../../src/http/client-address.ts'
import { Cursors } from '../../src/http/endpoint/cursor.ts'
import { Paging } from '../../src/http/endpoint/paging.ts'
import { createInputReader } from '../../src/http/endpoint/parse.ts'
import { LeasedLimiter } from '../../src/http/limits/leased-limiter.ts'
import { RequestDeadlines } from '../../src/http/limits/request-deadlines.ts'
import { RequestQueue } from '../../src/http/limits/request-queue.ts'
import { NO_PEER, RequestContext } from '../../src/http/request-context.ts'
import { RequestMetrics } from '../../src/http/request-metrics.ts'
import { commonHeaders, ResponseHeaders } from '../../src/http/responses/response-headers.ts'
import { Router } from '../../src/http/router.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { Networks } from '../../src/kit/networks.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { systemClock } from '../../src/kit/time/clock.ts'
import type { Store } from '../../src/store/store.ts'
import type { LeastPlan } from '../baselines/least-server.ts'
import type { Bench, Measure, Result } from '../bench.ts'
import { scenarios } from '../scenarios/index.ts'
import { median } from '../statistics.ts'
import { prepare } from './prepare.ts'
import { inTurns, loadOn, secondsOfTurns } from './rounds.ts'

/** Of all layers together, above the statement of the handler. */
const MAX_MICROSECONDS = 21
const CALLS = 20_000
const LOOPS = 7
const SCENARIO = 'get-drops-entitlements-by-id'
const PATH = '/helix/entitlements/drops'

export const layers: Measure = {
  name: 'layers',
  block: 'layers',
  seconds: ({ pace }) => 5 + secondsOfTurns(pace, 2),
  run: async bench => [...(await measureLoops()), await measureTogether(bench)],
}

interface Layer {
  readonly name: string
  readonly atMost?: number
  call(): unknown
}

async function measureLoops(): Promise<Result[]> {
  const token = mintSecret('app')
  let results: Result[] = []
  // The headers of a request are read from its connection as long as that is open.
  await using server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async request => {
      for (const layer of await openLayers(request, token)) results = [...results, await measureLoop(layer)]
      return new Response()
    },
    idleTimeout: 0,
  })
  await fetch(`${server.url.origin}${PATH}?first=20&user_id=140000007&game_id=30037`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  return results
}

async function measureLoop({ name, atMost, call }: Layer): Promise<Result> {
  const loops: number[] = []
  for (let loop = 0; loop <= LOOPS; loop++) {
    const before = process.cpuUsage()
    for (let n = 0; n < CALLS; n++) {
      const answer = call()
      if (answer instanceof Promise) await answer
    }
    const { user, system } = process.cpuUsage(before)
    // The runtime compiles during the first.
    if (loop > 0) loops.push((user + system) / CALLS)
  }
  return {
    work: `Layer: ${name}`,
    value: median(loops),
    unit: 'µs',
    details: `${Math.min(...loops).toFixed(2)} to ${Math.max(...loops).toFixed(2)}`,
    ...(atMost !== undefined && { atMost }),
  }
}

/** The layers as the server has them, for a request that nothing refuses. */
async function openLayers(request: Request, token: string): Promise<readonly Layer[]> {
  const ring = new KeyRing([{ id: 'bench', bytes: crypto.getRandomValues(new Uint8Array(32)) }])
  const log = createLog({ level: 'info', readable: false })
  const forwarded = new ForwardedAddresses(new Networks(), log)
  const router = new Router<string>()
  router.add('GET', PATH, PATH)
  const createContext = () => new RequestContext(request, NO_PEER, ['helix'], forwarded)
  const context = createContext()

  const callers = new Callers(storeWithToken(token), new SiteTokens(ring))
  await callers.find(token, Date.now())
  const caller = cachedCaller(callers, context.authorization, systemClock)
  if (caller === undefined || caller === 'invalid') throw new Error('the token is not cached')

  const limit = 999_999_999
  const limiter = new LeasedLimiter({ app: limit, user: limit, anonymous: limit }, storeWithToken(token))
  context.allowance = limiter.takeLocally(caller, context.address)

  const reader = createInputReader(getDropsEntitlements)
  const paging = new Paging(getDropsEntitlements, new Cursors(ring))
  const filters = reader.query(context.search)
  const key = ['2026-03-01T12:00:00.250Z', crypto.randomUUID()]
  const createCursor = () => {
    const binding = paging.cursorBinding(filters, caller)
    return paging.paginate({ filters, binding }, { rows: [key], more: true }, row => row, undefined).cursor
  }
  const after = createCursor()

  const headers = new ResponseHeaders(commonHeaders('helix'))
  const body = JSON.stringify({ data: [], pagination: {} })
  const metrics = new RequestMetrics()
  const tally = metrics.counterFor(getDropsEntitlements.id, 200)
  const queue = new RequestQueue(log)
  const response = new Response()
  const deadlines = new RequestDeadlines()
  return [
    {
      name: 'context and router',
      atMost: 3,
      call: () => router.find(createContext().method, context.path),
    },
    { name: 'token', atMost: 4, call: () => cachedCaller(callers, context.authorization, systemClock) },
    { name: 'limit', atMost: 3, call: () => limiter.takeLocally(caller, context.address) },
    { name: 'input', atMost: 3, call: () => reader.query(context.search) },
    {
      name: 'page, and the cursor of the next',
      atMost: 2,
      call: () => {
        paging.readPageRequest({ filters, binding: '' })
        return createCursor()
      },
    },
    {
      name: 'cursor that was sent',
      call: () => {
        const binding = paging.cursorBinding(filters, caller)
        return paging.readPageRequest({ filters: { ...filters, after }, binding })
      },
    },
    { name: 'headers and response', atMost: 4, call: () => headers.respond(200, body, context) },
    {
      name: 'metrics and log',
      atMost: 2,
      call: () => {
        metrics.begin()
        const milliseconds = performance.now() - context.began
        metrics.end(tally, 200, milliseconds, undefined)
        return log.isLevelEnabled('debug')
      },
    },
    {
      name: 'place and deadline',
      call: () => {
        const answer = queue.run(
          'place',
          performance.now(),
          () => deadlines.limit(context, Promise.resolve(response)),
          () => response,
        )
        queue.leave()
        return answer
      },
    },
  ]
}

/** A store that has this token of an app and nothing else. */
function storeWithToken(token: string): Store {
  const row = {
    hash: hashToken(token),
    kind: 'app',
    client_id: 'benchbenchbenchbenchbenchbench',
    organization_id: crypto.randomUUID(),
    user_id: null,
    login: null,
    scopes: '[]',
    expires_at: '9999-12-31T23:59:59.999Z',
  }
  return { tokens: { find: async () => row } } as unknown as Store
}

async function measureTogether(bench: Bench): Promise<Result> {
  const { world, strand } = await bench.ground()
  const scenario = scenarios.find(each => each.name === SCENARIO)
  if (scenario === undefined) throw new Error(`no scenario ${SCENARIO}`)
  const prepared = await prepare(world, strand, scenario)
  const least = await bench.processes.startBaseline('least-server', {
    operation: PATH,
    storeFile: world.storeFile,
    masterKeys: world.secrets.masterKeys,
    publicUrl: strand.url.replace('127.0.0.1', 'localhost'),
  } satisfies LeastPlan)
  const rounds = await inTurns(bench.plan.pace, [
    loadOn(bench, strand, prepared),
    loadOn(bench, least, prepared),
  ])
  await least.stop()
  const [ours = Number.NaN, others = Number.NaN] = rounds.map(side =>
    median(side.map(({ cost = Number.NaN }) => cost)),
  )
  return {
    work: `All layers, ${scenario.work}`,
    value: ours - others,
    unit: 'µs above the least server',
    details: `${ours.toFixed(1)} µs of ${others.toFixed(1)} µs`,
    atMost: MAX_MICROSECONDS,
  }
}
