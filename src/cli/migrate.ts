import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { openStore } from '../open-store.ts'
import { print } from './print.ts'
import { type StoreFlags, storeFlags } from './store-flags.ts'

export const migrateCommand = storeFlags(new Command('migrate'))
  .description('bring the schema of the store to this version; nodes that run go on meanwhile')
  .option('--json', 'print it as one line of JSON', false)
  .addHelpText(
    'after',
    `
It is done by one process at a time, forward only, and does nothing where nothing is to be done. On PostgreSQL it goes step
by step and keeps nobody waiting; if it is interrupted, run it again. strand serve does it too when it starts, unless
STRAND_MIGRATE=off. With several nodes, run this first and then restart them one by one.

Examples:
  strand migrate
  strand migrate --data /var/lib/strand
  DATABASE_URL=postgres://strand@one,two,three/strand strand migrate`,
  )
  .action(runMigrate)

async function runMigrate(flags: StoreFlags & { readonly json: boolean }): Promise<void> {
  const config = readConfig({ STRAND_DATA: flags.data, DATABASE_URL: flags.databaseUrl }, flags.config)
  const store = await openStore(
    { ...config, migrate: true },
    {
      report: line => process.stderr.write(`${line}\n`),
    },
  )
  await store.close()
  const { version, applied } = store.schema
  if (flags.json) return print(`${JSON.stringify({ schema_version: version, steps: applied })}\n`)
  const steps =
    applied === 0 ? 'nothing was to be done' : `${applied} ${applied === 1 ? 'step' : 'steps'} taken`
  await print(`The store is at schema ${version}: ${steps}.\n`)
}
