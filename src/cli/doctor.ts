import { Command } from 'commander'
import { InvalidSettings, readConfig } from '../config.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { examine } from '../maintenance/doctor.ts'
import { type Finding, failure } from '../maintenance/finding.ts'
import { print } from './print.ts'
import { type ServerFlags, serverFlags, settingsIn } from './store-flags.ts'

interface DoctorFlags extends ServerFlags {
  readonly url?: string
  readonly json: boolean
}

export const doctorCommand = serverFlags(new Command('doctor'))
  .description('look at what this installation stands on, and say what is wrong and what to do')
  .option('--url <url>', 'also hold the clock against that of the server at this URL')
  .option('--json', 'print the findings as one line of JSON', false)
  .addHelpText(
    'after',
    `
It looks at settings, listeners, the data folder, its disk, the store, the key ring and the limits of the system, and changes
nothing; the server may run. Run it as the user the server runs as, with the same settings. Exit code 0: no problem; 1: one.

Examples:
  strand doctor
  strand doctor --data /var/lib/strand
  strand doctor --config strand.env --json`,
  )
  .action(runDoctor)

async function runDoctor(flags: DoctorFlags): Promise<void> {
  const findings = await findingsOf(flags)
  const problems = findings.filter(({ level }) => level === 'problem').length
  await print(flags.json ? `${JSON.stringify({ problems, findings })}\n` : findings.map(line).join(''))
  if (problems > 0)
    throw new OperatorError(problems === 1 ? 'there is a problem' : `there are ${problems} problems`)
}

/** With wrong settings there is nothing further to look at: which store would it be? */
async function findingsOf(flags: DoctorFlags): Promise<Finding[]> {
  try {
    const config = readConfig(settingsIn(flags), flags.config)
    return await examine(config, flags.url)
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error
    return error.violations.map(says => failure('settings', says, 'mend it: nothing starts before that'))
  }
}

function line({ about, level, says, advice }: Finding): string {
  const head = `${level.padEnd(8)} ${about}: ${says}\n`
  return advice === undefined ? head : `${head}         -> ${advice}\n`
}
