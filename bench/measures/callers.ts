/**
 * What rate limits cost when many callers ask for little: 100,000 addresses read the directory, with default limits and with
 * limits off.
 */
import { type Bench, copyStore, type Measure, type Result } from '../bench.ts'
import type { Served } from '../load/processes.ts'
import type { BenchRequest } from '../load/request.ts'
import { SMALLEST } from '../world/world.ts'
import { inTurns, loadOn, ratioOf, secondsOfTurns } from './rounds.ts'

const CALLERS = 100_000
const WORKERS = { STRAND_WORKERS: '2' }

type Settings = Readonly<Record<string, string>>

export const callers: Measure = {
  name: 'callers',
  seconds: ({ pace }) => 30 + 3 * secondsOfTurns(pace, 2),
  run: async bench => {
    const { processes } = bench
    const world = await bench.makeWorld('callers', SMALLEST)
    const databaseUrl = await processes.startDatabase(world)
    const { secrets } = world
    const embedded = (settings: Settings, name: string) => {
      const folder = bench.folder(`callers-${name}`)
      copyStore(world.storeFile, folder)
      return processes.startStrand(folder, { secrets, settings })
    }
    const node = (settings: Settings, name: string) =>
      processes.startStrand(bench.folder(name), { secrets, databaseUrl, settings })
    return [
      await compare(bench, 'embedded store', embedded),
      await compare(bench, 'embedded store, two workers', (settings, name) =>
        embedded({ ...settings, ...WORKERS }, `${name}-workers`),
      ),
      await compare(bench, 'PostgreSQL', (settings, name) => node(settings, `node-${name}`)),
    ]
  },
}

async function compare(
  bench: Bench,
  where: string,
  start: (settings: Settings, name: string) => Promise<Served>,
): Promise<Result> {
  const limits = (value: string): Settings => ({
    STRAND_RATE_APP: value,
    STRAND_RATE_USER: value,
    STRAND_RATE_ANONYMOUS: value,
    STRAND_TRUSTED_PROXIES: '127.0.0.1',
  })
  const servers = [await start(limits('0'), 'off'), await start(limits(''), 'default')]
  const requests = Array.from({ length: CALLERS }, (_, n): BenchRequest => {
    const address = `10.${n % 200}.${Math.floor(n / 200) % 250}.${Math.floor(n / 50_000)}`
    return { path: '/helix/streams?first=20', from: address }
  })
  const sides = servers.map(server => loadOn(bench, server, { requests, body: Buffer.alloc(1000) }))
  const [off = [], on = []] = await inTurns(bench.plan.pace, sides)
  for (const server of servers) await server.stop()
  const work = `100,000 callers read the top page, default limits, ${where}`
  return { ...ratioOf(work, 'perSecond', on, off, 'limits off'), atLeast: 0.9 }
}
