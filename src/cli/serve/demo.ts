import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { environment, formatUrl, readConfig } from '../../config/config.ts'
import { SETTINGS } from '../../config/settings.ts'
import { demoSecret } from '../../demo/demo-secret.ts'
import type { World } from '../../demo/described-world.ts'
import { readScenarioFile } from '../../demo/read-scenario.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { type ClockStart, parseTimestamp } from '../../kit/time/clock.ts'
import { serveDemo } from '../../server/serve-demo.ts'
import { callControl } from '../remote.ts'
import { invalid, wholeNumber } from '../terminal/flag-values.ts'
import { requireWritable } from '../terminal/output-file.ts'
import { print, printResult } from '../terminal/print.ts'
import { UsageError } from '../usage-error.ts'
import { demoLines, startScreen } from './demo-text.ts'
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
  readonly lines?: boolean
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
  .option('--lines', 'print ids, tokens and lines to paste for the demo that runs at this address, and exit')
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
  strand demo --lines
  strand demo --scenario scenario.json --clock 2026-03-01T12:00:00Z`,
  )
  .action(runDemo)

async function runDemo(flags: DemoFlags): Promise<void> {
  if (flags.port !== undefined && flags.listen !== undefined)
    throw new UsageError('--port cannot be combined with --listen')
  if (flags.lines) return printLines(flags)
  if (flags.world !== undefined) requireWritable(flags.world)
  const stopRequested = flags.untilStdinEnds ? Promise.race([listenForStop(), stdinEnd()]) : listenForStop()
  const demo = await serveDemo({
    ...chooseAddress(flags),
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
    await print(
      flags.json ? `${JSON.stringify(world)}\n` : startScreen(demo, flags.data, linesCommand(flags, world)),
    )
    await stopRequested
  } finally {
    await stopGracefully(log, () => demo.stop())
  }
}

/** What the screen of the start has no room for, of a demo that runs already. */
async function printLines(flags: DemoFlags): Promise<void> {
  const { port, host = 'localhost' } = chooseAddress(flags)
  const operatorToken = readConfig({}, undefined).operatorToken ?? demoSecret(flags.seed, 'operator', 'demo')
  const answer = await callControl({ baseUrl: formatUrl({ host, port }), operatorToken }, '/world').catch(
    error => {
      throw new OperatorError(
        `${error.message}; --lines needs a running demo: start it with strand demo, and repeat its --port, --listen and --seed`,
      )
    },
  )
  const { data } = (await answer.json()) as { data: [World] }
  await printResult(flags, data[0], demoLines(data[0]))
}

/** How the demo is started again, by the script of npm that started it. */
const STARTED_BY: Readonly<Record<string, string>> = {
  start: 'npm start --',
  strand: 'npm run strand -- demo',
  npx: 'npx strand-server demo',
}

/** The command that prints the lines of this demo. */
function linesCommand({ listen, seed }: DemoFlags, { base_url }: World): string {
  const { port } = new URL(base_url)
  const address = listen !== undefined ? ` --listen ${listen}` : port === '8080' ? '' : ` --port ${port}`
  const command = STARTED_BY[environment.npm_lifecycle_event ?? ''] ?? 'strand demo'
  return `${command}${address}${seed === 42 ? '' : ` --seed ${seed}`} --lines`
}

/** Only the demo of another address than localhost has a host. */
function chooseAddress({ port = 8080, listen }: DemoFlags): { port: number; host?: string } {
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

function time(text: string): number {
  const milliseconds = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? parseTimestamp(text) : undefined
  if (milliseconds !== undefined) return milliseconds
  throw invalid('--clock', 'must be a time in RFC 3339 UTC such as 2026-03-01T12:00:00Z')
}
