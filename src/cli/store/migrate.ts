import { Command } from 'commander'
import { openStore } from '../../server/open-store.ts'
import { readStoreConfig, type StoreFlags, storeFlags } from '../store-flags.ts'
import { counted, printResult } from '../terminal/print.ts'

export const migrateCommand = storeFlags(new Command('migrate'))
  .description('migrate the schema of the store to this version')
  .option('--json', 'print the result as one line of JSON')
  .addHelpText(
    'after',
    `
One process migrates at a time, forward only; an up-to-date schema is left alone. On PostgreSQL the migration runs in steps
that do not block the nodes; if it is interrupted, run it again. strand serve migrates on start, too, unless
STRAND_MIGRATE=off. With several nodes, migrate first and then restart them one by one.

A migration that is not additive is named. Nodes of earlier versions cannot use the store afterwards, and answer 503: stop
them first, and start the new version when the migration is done. An embedded store that a server has open is left alone.

Examples:
  strand migrate
  strand migrate --data /var/lib/strand
  DATABASE_URL=postgres://strand@one,two,three/strand strand migrate`,
  )
  .action(runMigrate)

async function runMigrate(flags: StoreFlags & { readonly json?: boolean }): Promise<void> {
  const config = readStoreConfig(flags)
  const store = await openStore(
    { ...config, migrate: true },
    {
      report: line => process.stderr.write(`${line}\n`),
    },
  )
  await store.close()
  const { version, applied } = store.schema
  const steps = applied === 0 ? 'no migrations to apply' : `${counted(applied, 'migration')} applied`
  await printResult(
    flags,
    { schema_version: version, steps: applied },
    `The store has schema ${version}: ${steps}.`,
  )
}
