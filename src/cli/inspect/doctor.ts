import { Command } from 'commander'
import { InvalidSettings } from '../../config/config.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { examine } from '../../maintenance/doctor.ts'
import { type Finding, failure } from '../../maintenance/finding.ts'
import { readStoreConfig, type ServerFlags, serverFlags } from '../store-flags.ts'
import { findingTexts } from '../terminal/finding-text.ts'
import { counted, print } from '../terminal/print.ts'

interface DoctorFlags extends ServerFlags {
  readonly url?: string
  readonly hlsFolder?: string
  readonly json?: boolean
}

export const doctorCommand = serverFlags(new Command('doctor'))
  .description('check this installation and report problems with advice')
  .option('--url <url>', 'also compare the clock with that of the server at this URL')
  .option('--hls-folder <folder>', 'also look for stream keys in the names of files below this folder')
  .option('--json', 'print the findings as one line of JSON')
  .addHelpText(
    'after',
    `
Checks settings, listeners, the data folder, its disk, the store, the key ring, the media servers and the limits of the
system, and changes nothing; the server can keep running. Run it as the user of the server, with the same settings. Exit code 0: no problems;
1: problems.

Examples:
  strand doctor
  strand doctor --data /var/lib/strand
  strand doctor --config strand.env --json`,
  )
  .action(runDoctor)

async function runDoctor(flags: DoctorFlags): Promise<void> {
  const findings = await collectFindings(flags)
  const problems = findings.filter(({ level }) => level === 'problem').length
  await print(flags.json ? `${JSON.stringify({ problems, findings })}\n` : shown(findings))
  if (problems > 0) throw new OperatorError(`${counted(problems, 'problem')} found`)
}

/** With invalid settings it is unknown which store to check, so they are the only findings. */
async function collectFindings(flags: DoctorFlags): Promise<Finding[]> {
  try {
    return await examine(readStoreConfig(flags), flags)
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error
    return error.violations.map(violation =>
      failure('settings', violation, 'correct it: the server does not start with it'),
    )
  }
}

function shown(findings: readonly Finding[]): string {
  return findingTexts(
    findings.map(({ about, level, message, advice }) => ({ level, text: `${about}: ${message}`, advice })),
  )
}
