import { Command, Option } from 'commander'
import { partitioningOf } from '../../maintenance/partition.ts'
import { configOf, type StoreFlags, storeFlags } from '../store-flags.ts'
import { requireConfirmation } from '../terminal/confirm.ts'
import { wholeNumber } from '../terminal/flag-values.ts'
import { counted, print, printResult } from '../terminal/print.ts'

interface PartitionFlags extends StoreFlags {
  readonly count: number
  readonly dryRun?: boolean
  readonly abandon?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

const MAX_COUNT = 256

export const partitionCommand = storeFlags(new Command('partition'))
  .description('split the large tables of PostgreSQL into partitions; running nodes keep running')
  .addOption(
    new Option(
      '--count <number>',
      `partitions of the entitlements, 2 to ${MAX_COUNT}; cannot be changed later`,
    )
      .argParser(wholeNumber('--count', 2, MAX_COUNT))
      .default(8),
  )
  .option('--dry-run', 'print the SQL that would run, and change nothing')
  .option('--abandon', 'remove what an interrupted run has left, instead')
  .option('--yes', 'do not ask for confirmation')
  .option('--json', 'print the result as one line of JSON')
  .addHelpText(
    'after',
    `
Entitlements are split by id, the audit log by month, events and their deliveries by week. Then retention drops whole
partitions instead of deleting rows. Most installations need neither: see docs/scale-out.md for when to use it, what is
locked, and how long it takes. Back up first: there is no command for the way back.

Nodes keep running. Entitlements are copied, which needs their size in free space. If the command is interrupted, run it
again: it continues where it stopped. Run again after it has finished, it changes nothing.

Examples:
  strand partition --dry-run
  strand partition --count 8 --yes
  DATABASE_URL=postgres://strand@one,two,three/strand strand partition
  strand partition --abandon --yes`,
  )
  .action(runPartition)

async function runPartition(flags: PartitionFlags): Promise<void> {
  const partitioning = partitioningOf(configOf(flags), {
    count: flags.count,
    now: Date.now(),
    abandon: flags.abandon === true,
    report: line => process.stderr.write(`${line}\n`),
  })
  const plan = await partitioning.plan()
  if (flags.dryRun) {
    const texts = plan.map(({ label, step }) => {
      const statements =
        step.kind === 'transaction' ? ['begin', ...step.statements, 'commit'] : [step.statement]
      const note = step.kind === 'repeat' ? ', repeated until it returns no row' : ''
      return `-- ${label}${note}\n${statements.map(statement => `${statement};\n`).join('')}`
    })
    return print(texts.join('\n'))
  }
  if (plan.length > 0) {
    const question = flags.abandon
      ? 'Remove what an interrupted run has left?'
      : `Split the tables into partitions, in ${counted(plan.length, 'step')}? There is no command for the way back.`
    await requireConfirmation(question, flags.yes)
  }
  const steps = plan.length === 0 ? 0 : await partitioning.run()
  const outcome = flags.abandon ? 'Nothing is left of an interrupted run' : 'The store has partitions'
  await printResult(
    flags,
    { steps },
    `${outcome}: ${steps === 0 ? 'nothing to do' : counted(steps, 'step')}.`,
  )
}
