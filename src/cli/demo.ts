import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { isLoopback, readConfig } from '../config.ts'
import { moveViewers, prepareWorld } from '../demo/demo.ts'
import { demoSecret, type World, type WorldPlan } from '../demo/world.ts'
import { CannotStart } from '../kit/cannot-start.ts'
import { createLog } from '../kit/log.ts'
import { type Strand, startStrand } from '../serve.ts'
import { print } from './print.ts'
import { listenForStop, stopInGoodOrder } from './signals.ts'

interface DemoFlags {
  readonly port: string
  readonly seed: number
  readonly streams: number
  readonly json: boolean
  readonly world?: string
  readonly data?: string
}

export const demoCommand = new Command('demo')
  .description('serve a made-up world to try everything on: people, live streams with moving viewers, drops')
  .option('--port <port>', 'port to listen on', '8080')
  .option('--seed <number>', 'the same seed makes the same world', whole(0), 42)
  .option('--streams <count>', 'how many channels are live', whole(1), 200)
  .option('--json', 'print what one needs to know as one line of JSON', false)
  .option('--world <file>', 'write the same JSON to a file')
  .option('--data <folder>', 'keep the world in this folder; without it, it is gone when the demo ends')
  .addHelpText(
    'after',
    `
Examples:
  strand demo
  strand demo --port 9000 --streams 1000
  strand demo --json --world world.json`,
  )
  .action(runDemo)

async function runDemo(flags: DemoFlags): Promise<void> {
  const stopAsked = listenForStop()
  const folder = flags.data ?? mkdtempSync(join(tmpdir(), 'strand-demo-'))
  try {
    const config = readConfig(
      {
        STRAND_LISTEN: `localhost:${flags.port}`,
        STRAND_DATA: folder,
        // The demo is for programs on this machine, and has everything on one listener.
        STRAND_OPERATOR_LISTEN: '',
        STRAND_PUBLIC_URL: '',
        STRAND_TRUSTED_PROXIES: '',
      },
      undefined,
    )
    if (!isLoopback(config.listen.host)) throw new CannotStart('the demo listens on loopback only')
    const log = createLog({ level: config.logLevel, readable: config.logReadable })
    let plan: WorldPlan | undefined
    const strand = await startStrand({
      config: {
        ...config,
        operatorToken: config.operatorToken ?? demoSecret(flags.seed, 'operator', 'demo'),
      },
      log,
      demo: true,
      prepare: async rooms => {
        plan = await prepareWorld(rooms, { seed: flags.seed, streams: flags.streams })
      },
    })
    if (plan === undefined) throw new Error('the world was prepared before the start')
    const moving = moveViewers(strand.rooms, plan)
    const world = describeWorld(strand, plan)
    if (flags.world !== undefined) writeFileSync(flags.world, `${JSON.stringify(world)}\n`, { mode: 0o600 })
    await print(flags.json ? `${JSON.stringify(world)}\n` : welcome(world, plan.options.seed, flags.data))
    await stopAsked
    await stopInGoodOrder(log, async () => {
      await moving.stop()
      await strand.stop()
    })
  } finally {
    if (flags.data === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

export function describeWorld(strand: Strand, plan: WorldPlan): World {
  return {
    base_url: strand.url,
    helix_url: `${strand.url}/helix`,
    oauth_url: `${strand.url}/oauth2`,
    control_url: strand.controlUrl,
    operator_token: strand.operatorToken,
    ...plan.world,
  }
}

function welcome(world: World, seed: number, folder: string | undefined): string {
  const { broadcaster, client, base_url } = world
  const password = world.users[0]?.password
  const ask = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: 'http://localhost:3000/callback',
    scope: 'user:read:follows channel:read:stream_key',
  })
  const kept = folder === undefined ? 'gone when you stop it' : `kept in ${folder}`
  return `
Strand is serving a demo world (seed ${seed}, ${kept}). Stop it with Ctrl-C.

  Base URL        ${base_url}
  Client          ${client.id}
  Client secret   ${client.secret}
  App token       ${client.app_token}
  User token      ${broadcaster.token}
                  (${broadcaster.login}, user ${broadcaster.id}, live, every scope)
  Operator token  ${world.operator_token}
  Log in          ${broadcaster.login}, password ${password} (everybody's in the demo)

Paste one of these into another terminal:

  curl '${base_url}/helix/streams?first=3'

  curl -H 'Authorization: Bearer ${client.app_token}' '${base_url}/helix/entitlements/drops?first=3'

  curl -X POST -H 'Authorization: Bearer ${broadcaster.token}' '${base_url}/helix/streams/markers?user_id=${broadcaster.id}&description=hello'

Open one of these in a browser; the second leads back to localhost:3000, where an application would be:

  ${base_url}/account

  ${base_url}/oauth2/authorize?${ask}

Everything else: ${base_url}/docs

`
}

function whole(low: number): (text: string) => number {
  return text => {
    const value = Number(text)
    if (!/^[0-9]{1,9}$/.test(text) || value < low) {
      throw new InvalidArgumentError(`give a whole number of at least ${low}.`)
    }
    return value
  }
}
