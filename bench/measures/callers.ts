/**
 * What rate limits cost when many callers ask for little: 100,000 addresses read the directory, with default limits and with
 * limits off.
 */
import { copyStore, type Measure } from '../bench.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import { SMALLEST } from '../world/world.ts'
import { compareServers, secondsOfTurns } from './rounds.ts'

const topPage: Scenario = {
  name: 'callers',
  work: '100,000 callers read the top page, default limits',
  goals: {},
  prepare: async () =>
    Array.from({ length: 100_000 }, (_, n) => {
      const from = `10.${n % 200}.${Math.floor(n / 200) % 250}.${Math.floor(n / 50_000)}`
      return { path: '/helix/streams?first=20', from }
    }),
  isRight: ({ data }) => data?.length === 20,
}

const limits = (value: string) => ({
  STRAND_RATE_APP: value,
  STRAND_RATE_USER: value,
  STRAND_RATE_ANONYMOUS: value,
  STRAND_TRUSTED_PROXIES: '127.0.0.1',
  STRAND_OPERATOR_LISTEN: '127.0.0.1:0',
})

export const callers: Measure = {
  name: 'callers',
  seconds: ({ pace }) => 30 + 2 * secondsOfTurns(pace, 2),
  run: async bench => {
    const world = await bench.makeWorld('callers', SMALLEST)
    const databaseUrl = await bench.processes.startDatabase(world)
    const start = async (name: string, value: string, onPostgres: boolean) => {
      const folder = bench.folder(`callers-${name}-${onPostgres}`)
      if (!onPostgres) copyStore(world.storeFile, folder)
      const options = { secrets: world.secrets, settings: limits(value), ...(onPostgres && { databaseUrl }) }
      return { world, strand: await bench.processes.startStrand(folder, options) }
    }
    const compare = async (where: string, onPostgres: boolean) => {
      const [on, off] = [await start('default', '', onPostgres), await start('off', '0', onPostgres)]
      const ratios = await compareServers(bench, [topPage], [on, off], 'perSecond', 'limits off')
      return ratios.map(ratio => ({ ...ratio, work: `${ratio.work}, ${where}`, atLeast: 0.9 }))
    }
    return [...(await compare('embedded store', false)), ...(await compare('PostgreSQL', true))]
  },
}
