import { Command } from 'commander'
import type { Address, Config } from '../../config/config.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { examine } from '../../maintenance/doctor.ts'
import { settingsOfExistingStore } from '../store-flags.ts'
import { paintFor } from '../terminal/colour.ts'
import { print } from '../terminal/print.ts'
import { utcFlag } from '../terminal/time.ts'
import { requireTerminal, watchScreen } from '../terminal/watch.ts'
import { widthOfTerminal } from '../terminal/width.ts'
import { UsageError } from '../usage-error.ts'
import { openApp, requestedServer, type TargetFlags, targetFlags } from '../verbs/target.ts'
import { listenerUrl } from './listener-url.ts'
import { findPublicUrl } from './public-url.ts'
import { type Listener, type State, type StatusReport, showStatus, statusReport } from './status-report.ts'

interface StatusFlags extends TargetFlags {
  readonly json?: boolean
  readonly utc?: boolean
  readonly watch?: boolean
}

const TIMEOUT_MILLISECONDS = 2000
const STANDARD_WIDTH = 80

export const statusCommand = utcFlag(targetFlags(new Command('status')))
  .description('show the state of a server: what is live, its store, version, listeners and problems')
  .option('--watch', 'repaint it every two seconds until Ctrl-C, on a terminal')
  .option('--json', 'print it as one line of JSON')
  .addHelpText(
    'after',
    `
Exit code 0: the server is ready; 1: it is not.

Examples:
  strand status --url http://localhost:8080 --token-file operator-token
  strand status --url http://localhost:8080 --token-file operator-token --json`,
  )
  .action(runStatus)

async function runStatus(flags: StatusFlags): Promise<void> {
  if (flags.watch) {
    if (flags.json) throw new UsageError('--watch cannot be combined with --json')
    requireTerminal()
    await watchScreen({ title: 'strand status', read: async () => statusScreen(await observe(flags), flags) })
  }
  const report = await observe(flags)
  await print(flags.json ? `${JSON.stringify(report)}\n` : statusScreen(report, flags))
  if (report.state !== 'ready') throw new OperatorError(`${report.server}: ${report.state}`)
}

function statusScreen(report: StatusReport, { utc = false }: StatusFlags): string {
  const width = widthOfTerminal(process.stdout) ?? STANDARD_WIDTH
  return showStatus(report, { width, paint: paintFor(process.stdout), utc, now: Date.now() })
}

async function observe(flags: StatusFlags): Promise<StatusReport> {
  const server = requestedServer(flags)
  return server === undefined ? observeHere(settingsOfExistingStore(flags)) : observeServer(server.baseUrl)
}

/** What a server reports over its operator listener. */
async function observeServer(url: string): Promise<StatusReport> {
  const [ready, metrics, publicUrl] = await Promise.all([
    request(`${url}/readyz`),
    request(`${url}/metrics`).then(response => (response?.ok ? response.text() : undefined)),
    findPublicUrl(url).catch(() => undefined),
  ])
  const operator: Listener = { name: 'operator', url, answers: ready !== undefined }
  const listeners = publicUrl === undefined ? [operator] : [await listenerAt('public', publicUrl), operator]
  return statusReport({ server: url, state: readState(ready), metrics, listeners, findings: [] })
}

/** A store on this machine, and the server that its settings describe, if it is running. */
async function observeHere(config: Config): Promise<StatusReport> {
  const listeners = [await listenerAt('public', listenerUrl(config.listen))]
  if (config.operatorListen !== undefined)
    listeners.push(await listenerAt('operator', listenerUrl(config.operatorListen)))
  const { url } = assertDefined(listeners.at(-1), 'a listener')
  if (config.rtmpListen !== undefined) listeners.push(await rtmpListener(config.rtmpListen))
  const findings = await examine(config, {})
  const ready = await request(`${url}/readyz`)
  if (ready !== undefined) {
    const metrics = await request(`${url}/metrics`)
    const text = metrics?.ok ? await metrics.text() : undefined
    return statusReport({ server: url, state: readState(ready), metrics: text, listeners, findings })
  }
  const app = await openApp(config)
  try {
    const metrics = await (await app.answer(new Request('http://localhost/metrics'))).text()
    const server = config.databaseUrl === undefined ? config.dataFolder : 'PostgreSQL'
    return statusReport({ server, state: 'not running', metrics, listeners: [], findings })
  } finally {
    await app.close()
  }
}

async function listenerAt(name: string, url: string): Promise<Listener> {
  return { name, url, answers: (await request(`${url}/healthz`)) !== undefined }
}

/** Encoders connect over TCP. */
async function rtmpListener(address: Address): Promise<Listener> {
  const url = listenerUrl(address).replace('http:', 'rtmp:')
  const { hostname, port } = new URL(listenerUrl(address))
  const socket = await Bun.connect({
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || 80,
    socket: { data: () => undefined },
  }).catch(() => undefined)
  socket?.end()
  return { name: 'rtmp', url: `${url}/live`, answers: socket !== undefined }
}

function readState(ready: Response | undefined): State {
  if (ready === undefined) return 'unreachable'
  return ready.ok ? 'ready' : 'not ready'
}

/** Undefined if there is no response. */
async function request(url: string): Promise<Response | undefined> {
  return fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS) }).catch(() => undefined)
}
