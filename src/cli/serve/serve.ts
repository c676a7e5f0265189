import { Command, Option } from 'commander'
import { type Address, type Config, formatUrl, isLoopback } from '../../config/config.ts'
import { describeSetting, SETTINGS, settings } from '../../config/settings.ts'
import { refuseDemoWorld } from '../../demo/demo.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { createLog, type Log } from '../../kit/telemetry/log.ts'
import { PORT_FLAGS, startServer } from '../../server/serve.ts'
import { readStoreConfig, type ServerFlags, serverFlags, settingFlags } from '../store-flags.ts'
import { wholeNumber } from '../terminal/flag-values.ts'
import { UsageError } from '../usage-error.ts'
import { firstStart, isFirstStart } from './first-start.ts'
import { notifySystemd } from './notify.ts'
import { ownCommand } from './own-command.ts'
import { listenForStop, stopGracefully } from './signals.ts'
import { shareMetrics } from './worker-metrics.ts'
import { claimAddress, listenToSupervisor, reportReady, superviseWorkers } from './workers.ts'

interface ServeFlags extends ServerFlags {
  readonly port?: number
  readonly workers?: string
  readonly strict?: true
  readonly log?: string
  readonly notify?: boolean
  /** Set by the supervisor in its workers: the name of this one. */
  readonly worker?: string
}

export const serveCommand = settingFlags(serverFlags(new Command('serve')), [
  SETTINGS.workers,
  SETTINGS.strict,
  SETTINGS.logLevel,
])
  .description('run the server')
  .option(
    '--port <port>',
    'port of the public listener, instead of an address with --listen',
    wholeNumber('--port', 0, 65535),
  )
  .option('--notify', 'notify systemd when the server is ready, for a unit of Type=notify')
  .addOption(new Option('--worker <name>').hideHelp())
  .addHelpText(
    'after',
    `
Flags take precedence over the environment, and the environment over the file. Settings:
${settings.map(setting => `  ${setting.name.padEnd(30)} ${describeSetting(setting)}`).join('\n')}

Examples:
  strand serve
  strand serve --port 9000
  strand serve --listen 0.0.0.0:8080 --operator-listen localhost:8081 --data /var/lib/strand
  strand serve --strict
  DATABASE_URL=postgres://strand@db/strand strand serve`,
  )
  .action(runServe)

async function runServe(flags: ServeFlags): Promise<void> {
  const { worker } = flags
  const stopRequested = worker === undefined ? listenForStop() : listenToSupervisor()
  const config = readListenConfig(flags)
  const log = createLog({
    level: config.logLevel,
    readable: config.logReadable,
    ...(worker !== undefined && { base: { worker } }),
  })
  if (worker === undefined) warnOfExposure(config, log)
  const isFirst = isFirstStart(config)
  if (config.workers > 1 && config.rtmpListen !== undefined)
    throw new OperatorError(
      'STRAND_RTMP_LISTEN needs a single process, because a broadcast is in the memory of one: set STRAND_WORKERS=1, or use another media server (docs/going-live.md)',
    )
  if (config.workers > 1 && config.databaseUrl === undefined)
    throw new OperatorError(
      'STRAND_WORKERS needs PostgreSQL, because several processes on the embedded store wait for each other at every write: set STRAND_WORKERS=1, or DATABASE_URL (docs/several-nodes.md)',
    )
  if (config.workers > 1 && config.healthListen !== undefined)
    throw new OperatorError(
      'STRAND_HEALTH_LISTEN needs a single process: set STRAND_WORKERS=1; the supervisor of several replaces one that does not respond',
    )
  if (config.workers > 1 && worker === undefined)
    return serveWithWorkers(config, log, stopRequested, flags.notify)

  let isStopping = false
  void stopRequested.then(() => {
    isStopping = true
  })
  const strand = await startServer({
    config,
    log,
    isStopping: () => isStopping,
    prepare: refuseDemoWorld,
    sharesPort: worker !== undefined,
    ...(worker !== undefined && { gatherMetrics: shareMetrics(worker) }),
  }).catch((error: Error) => {
    if (!isStopping) throw error
    log.warn({ reason: error.message }, 'stopped during startup')
  })
  if (strand === undefined) return
  const { store, directory } = strand.services
  const serving = {
    url: strand.url,
    control_url: strand.controlUrl,
    ...(config.rtmpListen && {
      rtmp_url: `rtmp://${shown({ ...config.rtmpListen, port: strand.rtmpPort ?? 0 })}/live`,
    }),
    store: store.engine,
    live: directory.size,
    ...(config.strict && { strict: true }),
  }
  if (worker === undefined) {
    log.info(serving, 'serving')
    if (isFirst) await firstStart(config, strand, log)
    if (flags.notify) await notifySystemd(log)
    await stopRequested
    await stopGracefully(log, () => strand.stop())
  } else {
    log.debug(serving, 'worker is serving')
    reportReady()
    await stopRequested
    await strand.stop()
  }
}

/** With `--port`, the host of the setting stays. A worker gets the address from its supervisor. */
function readListenConfig(flags: ServeFlags): Config {
  const config = readStoreConfig(flags)
  if (flags.port === undefined || flags.worker !== undefined) return config
  if (flags.listen !== undefined) throw new UsageError('--port cannot be combined with --listen')
  return readStoreConfig({ ...flags, listen: shown({ ...config.listen, port: flags.port }) })
}

/** Only a warning: in a container the operator listener has to be on every address. */
function warnOfExposure({ operatorListen }: Config, log: Log): void {
  if (operatorListen === undefined || isLoopback(operatorListen.host)) return
  log.warn(
    { operator_listen: shown(operatorListen) },
    'the operator listener may be reachable from outside: restrict access to operators and monitoring',
  )
}

/** Starts the workers with the arguments of this process and the addresses that it found free. */
async function serveWithWorkers(
  config: Config,
  log: Log,
  stopRequested: Promise<void>,
  notify: boolean | undefined,
): Promise<void> {
  const isFirst = isFirstStart(config)
  const listen = await claimAddress(config.listen, PORT_FLAGS.public)
  const operatorListen =
    config.operatorListen && (await claimAddress(config.operatorListen, PORT_FLAGS.operator))
  const command = [...ownCommand(), ...process.argv.slice(2), '--listen', shown(listen)]
  if (operatorListen !== undefined) command.push('--operator-listen', shown(operatorListen))
  const count = config.workers
  await superviseWorkers(
    { count, command, drainSeconds: config.drainSeconds, log, stopRequested },
    serving => {
      const strict = config.strict && { strict: true }
      log.info({ url: `http://${shown(listen)}`, workers: count, serving, ...strict }, 'serving')
      if (isFirst) {
        const url = formatUrl(listen)
        void firstStart(
          config,
          { url, controlUrl: `${operatorListen ? formatUrl(operatorListen) : url}/control` },
          log,
        )
      }
      if (serving < count) log.warn({ workers: count, serving }, 'not all workers are serving')
      if (notify) void notifySystemd(log)
    },
  )
  log.info('stopped')
}

const shown = ({ host, port }: Address) => `${host.includes(':') ? `[${host}]` : host}:${port}`
