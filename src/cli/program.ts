import { Command, CommanderError } from 'commander'
import { StrandError } from '../client/index.ts'
import { InvalidSettings } from '../config.ts'
import { InvalidScenario } from '../demo/invalid-scenario.ts'
import { logLines } from '../kit/log.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { VERSION } from '../version.ts'
import { exportCommand } from './export.ts'
import { completeCommand, completionCommand } from './help/completion.ts'
import { docsCommand, openapiCommand } from './help/reference.ts'
import { importCommand } from './import.ts'
import { configCommand } from './inspect/config.ts'
import { doctorCommand } from './inspect/doctor.ts'
import { healthcheckCommand } from './inspect/healthcheck.ts'
import { demoCommand } from './serve/demo.ts'
import { serveCommand } from './serve/serve.ts'
import { auditVerifyCommand } from './store/audit-verify.ts'
import { backupCommand } from './store/backup.ts'
import { keyRingCommand } from './store/key-ring.ts'
import { migrateCommand } from './store/migrate.ts'
import { restoreCommand } from './store/restore.ts'
import { verifyCommand } from './store/verify.ts'
import { printResult } from './terminal/print.ts'
import { UsageError } from './usage-error.ts'
import { nounCommands } from './verbs/commands.ts'
import { passwordCommand } from './verbs/user-password.ts'

/** How long the end waits for a slow reader of the log. */
const LAST_LINES_MILLISECONDS = 1000

/** The tree of commands. */
export function createProgram(): Command {
  const program = new Command('strand')
    .description('A streaming platform API that you run yourself.')
    .version(VERSION, '-v, --version')
    .addHelpText(
      'after',
      `
Run a command with --help for its flags and examples.

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
    .addCommand(completeCommand, { hidden: true })
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
    .option('--json', 'print it as one line of JSON')
    .addHelpText('after', '\nExamples:\n  strand version\n  strand version --json')
    .action((flags: { readonly json?: boolean }) => printResult(flags, { version: VERSION }, VERSION))
}

/** Runs `strand` with these arguments. Returns the exit code: 0 success, 1 failure, 2 usage error. */
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

/** Usage errors anywhere in the tree get our prefix and exit code. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride().configureOutput({
    outputError: (text, write) => write(text.replace(/^error: /, 'strand: ')),
  })
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
  // The reader has closed the pipe, as head does.
  if ((error as { code?: unknown }).code === 'EPIPE') return 0
  if (error instanceof OperatorError || error instanceof StrandError || isOfSystem(error))
    printLine(error.message)
  else printLine(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return 1
}

/** An error of the operating system, such as a missing file, is not a bug. */
function isOfSystem(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const { code, errno, syscall } = error as NodeJS.ErrnoException
  return /^E[A-Z0-9]+$/.test(code ?? '') && (errno !== undefined || syscall !== undefined)
}

function printLine(sentence: string): void {
  process.stderr.write(`strand: ${sentence}\n`)
}
