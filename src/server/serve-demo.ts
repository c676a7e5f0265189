import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isLoopback, readConfig } from '../config/config.ts'
import { SETTINGS } from '../config/settings.ts'
import { moveViewers, prepareWorld } from '../demo/demo.ts'
import { demoSecret } from '../demo/demo-secret.ts'
import type { World } from '../demo/described-world.ts'
import { inventVideo } from '../demo/invented-video.ts'
import { type DemoProxy, startProxy } from '../demo/proxy.ts'
import type { WorldOptions, WorldPlan } from '../demo/world.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { createLog, type Log } from '../kit/telemetry/log.ts'
import { type ClockStart, MovableClock } from '../kit/time/clock.ts'
import { DemoControls } from '../operations/demo/demo-controls.ts'
import { type StrandServer, startServer } from './serve.ts'

/** Options of `strand demo` and of the test harness. */
export interface DemoOptions extends WorldOptions {
  readonly port: number
  /** On loopback; default: localhost. */
  readonly host?: string | undefined
  /** Port of the embedded media server; another one if it is in use. Default: no media server. */
  readonly rtmpPort?: number | undefined
  /** Port of the proxy for programs with fixed URLs; default: no proxy. */
  readonly proxyPort?: number | undefined
  /** Data folder; default: a temporary one, deleted when the demo ends. */
  readonly data?: string | undefined
  /** Default: the system clock. */
  readonly clock?: ClockStart | undefined
  /** Strict mode; default: as in the settings. */
  readonly strict?: boolean | undefined
  /** Whether viewer counts change over time. */
  readonly movingViewers: boolean
  /** Replace the environment. Rate limits are off unless set here. */
  readonly settings?: Readonly<Record<string, string>> | undefined
}

const NO_LIMITS = Object.fromEntries(
  Object.values({ ...SETTINGS.rateLimits, ...SETTINGS.oauthRates }).map(({ name }) => [name, '0']),
)

/** A running demo. */
export interface Demo {
  readonly world: World
  /** The seed of the world, which an earlier demo may have created. */
  readonly seed: number
  /** Whether strict mode is on. */
  readonly strict: boolean
  readonly demoControls: DemoControls
  readonly log: Log
  stop(): Promise<void>
}

export async function serveDemo(options: DemoOptions): Promise<Demo> {
  const folder = options.data ?? mkdtempSync(join(tmpdir(), 'strand-demo-'))
  const removeFolder = () => {
    if (options.data === undefined) rmSync(folder, { recursive: true, force: true })
  }
  try {
    return await serveIn(folder, options, removeFolder)
  } catch (error) {
    removeFolder()
    throw error
  }
}

async function serveIn(folder: string, options: DemoOptions, removeFolder: () => void): Promise<Demo> {
  const config = readConfig(
    {
      STRAND_LISTEN: listenSetting(options),
      STRAND_DATA: folder,
      // The demo serves programs on this machine only, with everything on one listener.
      STRAND_OPERATOR_LISTEN: '',
      STRAND_PUBLIC_URL: '',
      STRAND_TRUSTED_PROXIES: '',
      ...(options.rtmpPort !== undefined && mediaSettings(options.rtmpPort)),
      ...(options.strict && { STRAND_STRICT: '1' }),
    },
    undefined,
    options.settings && { ...NO_LIMITS, ...options.settings },
  )
  if (!isLoopback(config.listen.host)) throw new OperatorError('the demo can listen on loopback only')
  const log = createLog({ level: config.logLevel, readable: config.logReadable })
  const demoControls = new DemoControls(new MovableClock(options.clock))
  const { seed, streams, scenario } = options
  let plan: WorldPlan | undefined
  const strand = await startServer({
    config: { ...config, operatorToken: config.operatorToken ?? demoSecret(seed, 'operator', 'demo') },
    log,
    demo: demoControls,
    prepare: async services => {
      plan = await prepareWorld(services, { seed, streams, scenario })
      demoControls.video = inventVideo(services, new Set(plan.channels))
    },
  })
  if (plan === undefined) throw new Error('the demo world was not prepared')
  const proxy = await openProxy(strand, options).catch(async error => {
    await strand.stop()
    throw error
  })
  const moving = options.movingViewers ? moveViewers(strand.services, plan) : undefined
  const rtmp = await describeRtmp(strand, plan)
  const world: World = {
    ...describeWorld(strand, plan),
    ...(rtmp && { rtmp }),
    ...(proxy && { proxy: describeProxy(proxy, folder) }),
  }
  demoControls.description = { ...world }
  return {
    world,
    seed: plan.options.seed,
    strict: config.strict,
    demoControls,
    log,
    stop: async () => {
      demoControls.journal.close()
      await moving?.stop()
      await proxy?.stop()
      await strand.stop()
      removeFolder()
    },
  }
}

function listenSetting({ host = 'localhost', port }: DemoOptions): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

export function describeWorld(strand: StrandServer, plan: WorldPlan): World {
  return {
    base_url: strand.url,
    helix_url: `${strand.url}/helix`,
    oauth_url: `${strand.url}/oauth2`,
    control_url: strand.controlUrl,
    operator_token: strand.operatorToken,
    ...plan.world,
  }
}

/** To the address that the demo listens on. */
async function openProxy({ url }: StrandServer, { proxyPort }: DemoOptions): Promise<DemoProxy | undefined> {
  if (proxyPort === undefined) return undefined
  const { hostname, port } = new URL(url)
  const host = hostname === 'localhost' ? '127.0.0.1' : hostname.replace(/^\[|\]$/g, '')
  return startProxy(proxyPort, { host, port: Number(port) })
}

/** Programs read the certificate from a file. */
function describeProxy({ url, certificate }: DemoProxy, folder: string): NonNullable<World['proxy']> {
  const certificate_file = join(resolve(folder), 'proxy.pem')
  writeFileSync(certificate_file, certificate)
  return { url, certificate_file }
}

/** Recordings of the demo are kept small. */
function mediaSettings(port: number): Record<string, string> {
  return {
    STRAND_RTMP_LISTEN: `localhost:${port}`,
    STRAND_RECORD: 'on',
    STRAND_RECORD_MIB: '512',
  }
}

async function describeRtmp({ services, rtmpPort }: StrandServer, plan: WorldPlan): Promise<World['rtmp']> {
  const { id } = plan.world.offline
  const user = await services.store.users.find(id)
  const stored = await services.store.streamKeys.current(id)
  const stream_key = stored && services.streamKeys.open(id, stored)
  if (rtmpPort === undefined || user === undefined || stream_key === undefined) return undefined
  return { url: `rtmp://localhost:${rtmpPort}/live`, login: user.login, stream_key }
}
