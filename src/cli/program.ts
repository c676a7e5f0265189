import { Command, CommanderError } from 'commander'
import { StrandError } from '../client/index.ts'
import { InvalidSettings } from '../config.ts'
import { InvalidScenario } from '../demo/invalid-scenario.ts'
import { logLines } from '../kit/log.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { VERSION } from '../version.ts'
import { exportCommand } from './export.ts'
import { completeCommand, completionCommand } from './help/completion.ts'
import { fitHelp } from './help/fit-help.ts'
import { helpCommand } from './help/help.ts'
import { docsCommand, openapiCommand } from './help/reference.ts'
import { importCommand } from './import.ts'
import { configCommand } from './inspect/config.ts'
import { doctorCommand } from './inspect/doctor.ts'
import { healthcheckCommand } from './inspect/healthcheck.ts'
import { openCommand } from './inspect/open.ts'
import { statusCommand } from './inspect/status.ts'
import { logoutCommand, profileCommand } from './profiles/commands.ts'
import { loginCommand } from './profiles/login.ts'
import { demoCommand } from './serve/demo.ts'
import { serveCommand } from './serve/serve.ts'
import { auditVerifyCommand } from './store/audit-verify.ts'
import { backupCommand } from './store/backup.ts'
import { keyRingCommand } from './store/key-ring.ts'
import { migrateCommand } from './store/migrate.ts'
import { partitionCommand } from './store/partition.ts'
import { restoreCommand } from './store/restore.ts'
import { verifyCommand } from './store/verify.ts'
import { Interrupted } from './terminal/interruption.ts'
import { printResult } from './terminal/print.ts'
import { widthOfTerminal } from './terminal/width.ts'
import { UsageError } from './usage-error.ts'
import { nounCommands } from './verbs/commands.ts'
import { eventTailCommand, eventTriggerCommand, eventVerifyCommand } from './verbs/events.ts'
import { mediaAddCommand, mediaCheckCommand } from './verbs/media.ts'
import { NOUNS } from './verbs/table.ts'
import { passwordCommand } from './verbs/user-password.ts'

/** How long the process waits at exit for a slow reader of the log. */
const FLUSH_MILLISECONDS = 1000

/** Commands that show the others. */
const READS_ALL: ReadonlySet<string> = new Set(['help', '__complete', 'docs'])

/** `first`: the first word of the command line, which decides what is created; the default is all commands. */
export function createProgram(first?: string): Command {
  const program = new Command('strand')
    .description('self-hosted streaming platform API server')
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
    .helpCommand(false)
    .addCommand(demoCommand)
    .addCommand(serveCommand)
    .addCommand(migrateCommand)
    .addCommand(partitionCommand)
    .addCommand(backupCommand)
    .addCommand(restoreCommand)
    .addCommand(verifyCommand)
    .addCommand(keyRingCommand)
    .addCommand(exportCommand)
    .addCommand(importCommand)
    .addCommand(statusCommand)
    .addCommand(openCommand)
    .addCommand(healthcheckCommand)
    .addCommand(doctorCommand)
    .addCommand(configCommand)
    .addCommand(loginCommand)
    .addCommand(logoutCommand)
    .addCommand(profileCommand)
    .addCommand(openapiCommand)
    .addCommand(completionCommand)
    .addCommand(completeCommand, { hidden: true })
    .addCommand(docsCommand, { hidden: true })
    .addCommand(versionCommand())
    .addCommand(helpCommand)
  const handwritten = {
    user: [passwordCommand],
    media: [mediaAddCommand, mediaCheckCommand],
    event: [eventTailCommand, eventTriggerCommand, eventVerifyCommand],
    audit: [auditVerifyCommand],
  }
  const isKnown = program.commands.some(each => each.name() === first && !READS_ALL.has(first))
  const only = first !== undefined && Object.hasOwn(NOUNS, first) ? first : undefined
  // Creating all of them takes a fifth of the time of a short command.
  if (!isKnown) for (const noun of nounCommands(handwritten, only)) program.addCommand(noun)
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

/** Runs `strand` with these arguments. Returns the exit code: 0 success, 1 failure, 2 usage error, 130 Ctrl-C. */
export async function runProgram(args: readonly string[]): Promise<number> {
  try {
    await createProgram(args[0]).parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    return exitCodeOf(error)
  } finally {
    await logLines.flush(FLUSH_MILLISECONDS)
  }
}

/** Gives usage errors of every command our prefix and exit code. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride().configureOutput({
    writeOut: text => {
      const width = widthOfTerminal(process.stdout)
      process.stdout.write(width === undefined ? text : fitHelp(text, width))
    },
    outputError: (text, write) => write(text.replace(/^error: /, 'strand: ')),
  })
  for (const each of command.commands) throwInsteadOfExit(each)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof InvalidSettings) {
    for (const violation of error.violations) printError(violation)
    return error.hasInvalidFlag ? 2 : 1
  }
  if (error instanceof UsageError || error instanceof InvalidScenario) {
    printError(error.message)
    return 2
  }
  if (error instanceof Interrupted) {
    if (error.message !== '') printError(error.message)
    return error.exitCode
  }
  // The reader closed the pipe, as head does.
  if ((error as { code?: unknown }).code === 'EPIPE') return 0
  if (error instanceof OperatorError || error instanceof StrandError || isSystemError(error))
    printError(error.message)
  else printError(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return 1
}

/** Errors of the operating system, such as a missing file, are not bugs and need no stack trace. */
function isSystemError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const { code, errno, syscall } = error as NodeJS.ErrnoException
  return /^E[A-Z0-9]+$/.test(code ?? '') && (errno !== undefined || syscall !== undefined)
}

function printError(message: string): void {
  process.stderr.write(`strand: ${message}\n`)
}
