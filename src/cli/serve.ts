import { Command } from 'commander'
import { readConfig, SETTINGS } from '../config.ts'
import { refuseDemoWorld } from '../demo/demo.ts'
import { createLog } from '../kit/log.ts'
import { startStrand } from '../serve.ts'
import { listenForStop, stopInGoodOrder } from './signals.ts'

interface ServeFlags {
  readonly config?: string
  readonly listen?: string
  readonly operatorListen?: string
  readonly publicUrl?: string
  readonly data?: string
  readonly databaseUrl?: string
  readonly log?: string
}

export const serveCommand = new Command('serve')
  .description('serve the API; the embedded store is in ./data unless DATABASE_URL names a PostgreSQL')
  .option('--config <file>', 'settings as NAME=value lines')
  .option('--listen <host:port>', 'STRAND_LISTEN')
  .option('--operator-listen <host:port>', 'STRAND_OPERATOR_LISTEN')
  .option('--public-url <url>', 'STRAND_PUBLIC_URL')
  .option('--data <folder>', 'STRAND_DATA')
  .option('--database-url <url>', 'DATABASE_URL')
  .option('--log <level>', 'STRAND_LOG')
  .addHelpText(
    'after',
    `
Flags win over the environment, the environment wins over the file. Settings:
${Object.entries(SETTINGS)
  .map(([name, meaning]) => `  ${name.padEnd(30)} ${meaning}`)
  .join('\n')}

Examples:
  strand serve
  strand serve --listen 0.0.0.0:8080 --operator-listen localhost:8081 --data /var/lib/strand
  DATABASE_URL=postgres://strand@db/strand strand serve`,
  )
  .action(runServe)

async function runServe(flags: ServeFlags): Promise<void> {
  const stopAsked = listenForStop()
  const config = readConfig(
    {
      STRAND_LISTEN: flags.listen,
      STRAND_OPERATOR_LISTEN: flags.operatorListen,
      STRAND_PUBLIC_URL: flags.publicUrl,
      STRAND_DATA: flags.data,
      DATABASE_URL: flags.databaseUrl,
      STRAND_LOG: flags.log,
    },
    flags.config,
  )
  const log = createLog({ level: config.logLevel, readable: config.logReadable })
  const strand = await startStrand({ config, log, prepare: refuseDemoWorld })
  const store = strand.rooms.store.engine
  log.info(
    { url: strand.url, control_url: strand.controlUrl, store, live: strand.rooms.directory.size },
    'serving',
  )
  await stopAsked
  await stopInGoodOrder(log, () => strand.stop())
}
