import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import type { World } from '../../demo/described-world.ts'
import { readScenarioFile } from '../../demo/read-scenario.ts'
import { type ClockStart, parseTimestamp } from '../../kit/clock.ts'
import { type Demo, serveDemo } from '../../serve-demo.ts'
import { SETTINGS } from '../../settings.ts'
import { invalid, wholeNumber } from '../terminal/flag-values.ts'
import { requireWritable } from '../terminal/output-file.ts'
import { print } from '../terminal/print.ts'
import { UsageError } from '../usage-error.ts'
import { listenForStop, stopGracefully } from './signals.ts'

interface DemoFlags {
  readonly port?: number
  readonly listen?: string
  readonly seed: number
  readonly rtmpPort: number
  readonly rtmp: boolean
  readonly streams: number
  readonly proxy?: number | true
  readonly json?: boolean
  readonly world?: string
  readonly data?: string
  readonly scenario?: string
  readonly clock?: number
  readonly clockRuns?: boolean
  readonly still?: boolean
  readonly strict?: boolean
  readonly untilStdinEnds?: boolean
  readonly settings?: Readonly<Record<string, string>>
}

const PROXY_PORT = 8081

export const demoCommand = new Command('demo')
  .description(
    'serve a generated world to try things out: users, live streams with changing viewer counts, drops',
  )
  .option('--port <port>', 'port to listen on; default: 8080', wholeNumber('--port', 0, 65535))
  .option('--listen <host:port>', 'address to listen on, on loopback; default: localhost:8080')
  .option('--rtmp-port <port>', 'port for encoders', wholeNumber('--rtmp-port', 0, 65535), 1935)
  .option('--no-rtmp', 'do not start the embedded media server')
  .option(
    '--seed <number>',
    'seed of the world; the same seed generates the same world',
    wholeNumber('--seed', 0),
    42,
  )
  .option('--streams <count>', 'number of live channels', wholeNumber('--streams', 1), 200)
  .option(
    '--proxy [port]',
    'also listen as an HTTPS proxy for api.twitch.tv, id.twitch.tv and eventsub.wss.twitch.tv; default: 8081',
    wholeNumber('--proxy', 0, 65535),
  )
  .option('--json', 'print ids, tokens and URLs as one line of JSON')
  .option('--world <file>', 'write the same JSON to a file')
  .option('--data <folder>', 'folder to keep the world in; default: a temporary one, deleted at the end')
  .option('--scenario <file>', 'file with objects to add to the world; see docs/testing-against-strand.md')
  .option('--clock <time>', 'set the clock to a time such as 2026-03-01T12:00:00Z and stop it there', time)
  .option('--clock-runs', 'with --clock: let the clock run')
  .option('--still', 'do not change viewer counts')
  .option('--strict', `${SETTINGS.strict.meaning} (${SETTINGS.strict.name})`)
  .option('--until-stdin-ends', 'stop when standard input ends, for programs that start the demo')
  // From the test harness, so that the environment of a test has no effect.
  .addOption(new Option('--settings <json>').argParser(text => JSON.parse(text)).hideHelp())
  .addHelpText(
    'after',
    `
Examples:
  strand demo
  strand demo --port 9000 --streams 1000
  strand demo --listen 127.0.0.1:9000
  strand demo --strict
  strand demo --proxy
  strand demo --json --world world.json
  strand demo --scenario scenario.json --clock 2026-03-01T12:00:00Z`,
  )
  .action(runDemo)

async function runDemo(flags: DemoFlags): Promise<void> {
  if (flags.port !== undefined && flags.listen !== undefined)
    throw new UsageError('--port cannot be combined with --listen')
  if (flags.world !== undefined) requireWritable(flags.world)
  const stopRequested = flags.untilStdinEnds ? Promise.race([listenForStop(), stdinEnd()]) : listenForStop()
  const demo = await serveDemo({
    ...addressOf(flags),
    seed: flags.seed,
    // Programs that start the demo choose its settings.
    rtmpPort: flags.rtmp && flags.settings === undefined ? flags.rtmpPort : undefined,
    streams: flags.streams,
    proxyPort: flags.proxy === true ? PROXY_PORT : flags.proxy,
    scenario: flags.scenario === undefined ? undefined : readScenarioFile(flags.scenario),
    clock: clockStart(flags),
    data: flags.data,
    movingViewers: !flags.still,
    strict: flags.strict,
    settings: flags.settings,
  })
  const { world, log } = demo
  try {
    if (flags.world !== undefined) writeWorld(flags.world, world)
    await print(flags.json ? `${JSON.stringify(world)}\n` : startupMessage(demo, flags.data))
    await stopRequested
  } finally {
    await stopGracefully(log, () => demo.stop())
  }
}

/** Only the demo of another address than localhost has a host. */
function addressOf({ port = 8080, listen }: DemoFlags): { port: number; host?: string } {
  if (listen === undefined) return { port }
  const address = SETTINGS.listen.kind.parse(listen)
  if (address === undefined)
    throw invalid('--listen', `must be ${SETTINGS.listen.kind.form}, not "${listen}"`)
  return address
}

function clockStart({ clock, clockRuns = false }: DemoFlags): ClockStart | undefined {
  if (clock !== undefined) return { at: clock, running: clockRuns }
  if (clockRuns) throw new UsageError('--clock-runs requires --clock')
  return undefined
}

/** Resolves when the program that started this one closes its end of standard input or exits. */
async function stdinEnd(): Promise<void> {
  for await (const _ of Bun.stdin.stream());
}

/** The file contains secrets, so an existing one gets mode 0600, too. */
function writeWorld(file: string, world: World): void {
  writeFileSync(file, `${JSON.stringify(world)}\n`, { mode: 0o600 })
  if (statSync(file).isFile()) chmodSync(file, 0o600)
}

function startupMessage({ world, seed, strict }: Demo, folder: string | undefined): string {
  const { broadcaster, client, base_url } = world
  const password = world.users[0]?.password
  const authorization = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: 'http://localhost:3000/callback',
    scope: 'user:read:follows channel:read:stream_key',
  })
  const kept = folder === undefined ? 'deleted when you stop it' : `kept in ${folder}`
  const mode = strict ? ', strict mode' : ''
  const as = (token: string) =>
    `-H 'Authorization: Bearer ${token}'${strict ? ` -H 'Client-Id: ${client.id}'` : ''}`
  const listStreams = strict ? `${as(client.app_token)} ` : ''
  return `
Strand is serving a demo world (seed ${seed}, ${kept}${mode}).
Stop it with Ctrl-C.

See who is live in a browser. The console needs the operator token:

  ${base_url}

  ${base_url}/console

${goingLive(world)}${usingProxy(world)}  Base URL        ${base_url}
  Client          ${client.id}
  Client secret   ${client.secret}
  App token       ${client.app_token}
  User token      ${broadcaster.token}
                  (${broadcaster.login}, user ${broadcaster.id}, live, every scope)
  Operator token  ${world.operator_token}
  Log in          ${broadcaster.login}, password ${password} (of every user)
${scenarioTable(world.scenario)}
Call the API from another terminal:

  curl ${listStreams}'${base_url}/helix/streams?first=3'

  curl ${as(client.app_token)} '${base_url}/helix/entitlements/drops?first=3'

  curl -X POST ${as(broadcaster.token)} '${base_url}/helix/streams/markers?user_id=${broadcaster.id}&description=hello'

Log in to an application, which would listen on localhost:3000:

  ${base_url}/oauth2/authorize?${authorization}

Everything else: ${base_url}/docs

`
}

/** A line that makes the offline channel of the demo live. */
function goingLive({ rtmp, base_url }: World): string {
  if (rtmp === undefined) return ''
  const { url, login, stream_key } = rtmp
  return `Go live as ${login} with OBS, or with the line for another terminal:

  Server          ${url}
  Stream key      ${stream_key}

  ffmpeg -re -f lavfi -i testsrc2=size=1280x720:rate=30 -f lavfi -i sine -c:v libx264 -preset veryfast -pix_fmt yuv420p -g 60 -c:a aac -f flv '${url}/${stream_key}'

Watch it in a browser, on the home page or here, or in a player for FLV:

  ${base_url}/${login}

  ffplay ${base_url}/live/${login}.flv

`
}

/** The environment of programs with fixed URLs. */
function usingProxy({ proxy }: World): string {
  if (proxy === undefined) return ''
  const { url, certificate_file: file } = proxy
  return `Let programs with fixed URLs call the demo:

  export HTTPS_PROXY=${url} SSL_CERT_FILE=${file} NODE_EXTRA_CA_CERTS=${file}

`
}

/** The objects that the scenario added to the world, by name. */
function scenarioTable(scenario: World['scenario']): string {
  if (scenario === undefined) return ''
  const widest = Math.max(0, ...Object.keys(scenario).map(name => name.length))
  const rows = Object.entries(scenario).map(([name, object]) => {
    const fields = Object.entries(object).map(([field, value]) => {
      const shown = Array.isArray(value) ? value.join(' ') : String(value)
      return `${field} ${shown === '' ? '(none)' : shown}`
    })
    return `  ${name.padEnd(widest)}  ${fields.join(', ')}\n`
  })
  return `\nFrom the scenario:\n\n${rows.join('')}`
}

function time(text: string): number {
  const milliseconds = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? parseTimestamp(text) : undefined
  if (milliseconds !== undefined) return milliseconds
  throw invalid('--clock', 'must be a time in RFC 3339 UTC such as 2026-03-01T12:00:00Z')
}
