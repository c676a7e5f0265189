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
It is done under a lock, forward only, and does nothing where nothing is to be done. strand serve does it too when it
starts; with several nodes, run this first and then start them anew one by one.

Examples:
  strand migrate
  strand migrate --data /var/lib/strand
  DATABASE_URL=postgres://strand@one,two,three/strand strand migrate`,
  )
  .action(runMigrate)

async function runMigrate(flags: StoreFlags & { readonly json: boolean }): Promise<void> {
  const store = await openStore(
    readConfig({ STRAND_DATA: flags.data, DATABASE_URL: flags.databaseUrl }, flags.config),
  )
  await store.close()
  const { version, applied } = store.schema
  if (flags.json) return print(`${JSON.stringify({ schema_version: version, steps: applied })}\n`)
  const steps =
    applied === 0 ? 'nothing was to be done' : `${applied} ${applied === 1 ? 'step' : 'steps'} taken`
  await print(`The store is at schema ${version}: ${steps}.\n`)
}
