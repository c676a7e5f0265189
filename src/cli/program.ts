import { Command, CommanderError } from 'commander'
import { StrandError } from '../client/index.ts'
import { InvalidSettings } from '../config.ts'
import { InvalidScenario } from '../demo/invalid-scenario.ts'
import { logLines } from '../kit/log.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { VERSION } from '../version.ts'
import { auditVerifyCommand } from './audit-verify.ts'
import { backupCommand } from './backup.ts'
import { completionCommand } from './completion.ts'
import { configCommand } from './config.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { exportCommand } from './export.ts'
import { healthcheckCommand } from './healthcheck.ts'
import { importCommand } from './import.ts'
import { keyRingCommand } from './key-ring.ts'
import { migrateCommand } from './migrate.ts'
import { print } from './print.ts'
import { docsCommand, openapiCommand } from './reference.ts'
import { restoreCommand } from './restore.ts'
import { serveCommand } from './serve.ts'
import { UsageError } from './usage-error.ts'
import { passwordCommand } from './user-password.ts'
import { nounCommands } from './verbs/commands.ts'
import { verifyCommand } from './verify.ts'

/** How long the end waits for a slow reader of the log. */
const LAST_LINES_MILLISECONDS = 1000

/** The whole tree of words. */
export function createProgram(): Command {
  const program = new Command('strand')
    .description('A streaming platform API that you run yourself.')
    .version(VERSION, '-v, --version')
    .addHelpText(
      'after',
      `
Each command tells more with --help.

Examples:
  strand demo
  strand serve
  strand user create plucky_jackal
  strand stream start lunar_otter --viewer-count 478`,
    )
    .exitOverride()
    .addCommand(demoCommand)
    .addCommand(serveCommand)
    .addCommand(migrateCommand)
    .addCommand(backupCommand)
    .addCommand(restoreCommand)
    .addCommand(verifyCommand)
    .addCommand(keyRingCommand)
    .addCommand(exportCommand)
    .addCommand(importCommand)
    .addCommand(healthcheckCommand)
    .addCommand(doctorCommand)
    .addCommand(configCommand)
    .addCommand(openapiCommand)
    .addCommand(completionCommand)
    .addCommand(docsCommand, { hidden: true })
    .addCommand(versionCommand())
  for (const noun of nounCommands({ user: [passwordCommand], audit: [auditVerifyCommand] }))
    program.addCommand(noun)
  throwInsteadOfExit(program)
  return program
}

function versionCommand(): Command {
  return new Command('version')
    .description('print the version')
    .option('--json', 'print it as one line of JSON', false)
    .addHelpText('after', '\nExamples:\n  strand version\n  strand version --json')
    .action(({ json }: { readonly json: boolean }) =>
      print(json ? `${JSON.stringify({ version: VERSION })}\n` : `${VERSION}\n`),
    )
}

/** Runs `strand` with these words and gives the exit code: 0 done, 1 failed, 2 called wrongly. */
export async function runProgram(words: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync(words, { from: 'user' })
    return 0
  } catch (error) {
    return exitCodeOf(error)
  } finally {
    await logLines.flush(LAST_LINES_MILLISECONDS)
  }
}

/** Wherever in the tree the words are wrong, the exit code is ours to choose. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride()
  for (const each of command.commands) throwInsteadOfExit(each)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof InvalidSettings) {
    for (const violation of error.violations) printLine(violation)
    return error.isOfFlags ? 2 : 1
  }
  if (error instanceof UsageError || error instanceof InvalidScenario) {
    printLine(error.message)
    return 2
  }
  // Whoever was reading has read enough, as behind a pipe to head.
  if ((error as { code?: unknown }).code === 'EPIPE') return 0
  if (error instanceof OperatorError || error instanceof StrandError || isOfSystem(error))
    printLine(error.message)
  else printLine(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return 1
}

/** What the system refused, such as a file that is not there, is no mistake of the program. */
function isOfSystem(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const { code, errno, syscall } = error as NodeJS.ErrnoException
  return /^E[A-Z0-9]+$/.test(code ?? '') && (errno !== undefined || syscall !== undefined)
}

function printLine(sentence: string): void {
  process.stderr.write(`strand: ${sentence}\n`)
}
