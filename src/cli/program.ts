import { Command, CommanderError } from 'commander'
import { StrandError } from '../client/strand-error.ts'
import { InvalidSettings } from '../config/config.ts'
import { VERSION } from '../config/version.ts'
import { InvalidScenario } from '../demo/invalid-scenario.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { logLines } from '../kit/telemetry/log.ts'
import { fitHelp } from './help/fit-help.ts'
import { unknownCommand } from './help/unknown-command.ts'
import { wordUsageError } from './help/usage-message.ts'
import { Interrupted } from './terminal/interruption.ts'
import { printResult } from './terminal/print.ts'
import { STANDARD_WIDTH, widthOfTerminal } from './terminal/width.ts'
import { UsageError } from './usage-error.ts'

/** How long the process waits at exit for a slow reader of the log. */
const FLUSH_MILLISECONDS = 1000

type LoadCommand = () => Promise<Command>

/** The commands in the order of the help page. Each is loaded when it is used: loading all of them takes longer than most run. */
const COMMANDS: Readonly<Record<string, LoadCommand>> = {
  demo: async () => (await import('./serve/demo.ts')).demoCommand,
  serve: async () => (await import('./serve/serve.ts')).serveCommand,
  migrate: async () => (await import('./store/migrate.ts')).migrateCommand,
  backup: async () => (await import('./store/backup.ts')).backupCommand,
  restore: async () => (await import('./store/restore.ts')).restoreCommand,
  verify: async () => (await import('./store/verify.ts')).verifyCommand,
  'key-ring': async () => (await import('./store/key-ring.ts')).keyRingCommand,
  export: async () => (await import('./export.ts')).exportCommand,
  import: async () => (await import('./import.ts')).importCommand,
  status: async () => (await import('./inspect/status.ts')).statusCommand,
  open: async () => (await import('./inspect/open.ts')).openCommand,
  healthcheck: async () => (await import('./inspect/healthcheck.ts')).healthcheckCommand,
  doctor: async () => (await import('./inspect/doctor.ts')).doctorCommand,
  config: async () => (await import('./inspect/config.ts')).configCommand,
  login: async () => (await import('./profiles/login.ts')).loginCommand,
  logout: async () => (await import('./profiles/commands.ts')).logoutCommand,
  profile: async () => (await import('./profiles/commands.ts')).profileCommand,
  openapi: async () => (await import('./help/reference.ts')).openapiCommand,
  completion: async () => (await import('./help/completion.ts')).completionCommand,
  version: async () => versionCommand(),
}

/** These describe all others. */
const ABOUT_COMMANDS: Readonly<Record<string, LoadCommand>> = {
  __complete: async () => (await import('./help/completion.ts')).completeCommand,
  docs: async () => (await import('./help/reference.ts')).docsCommand,
  help: async () => (await import('./help/help.ts')).helpCommand,
}
const HIDDEN = ['__complete', 'docs']

/** Commands below a noun that are more than a call of an operation. */
const HANDWRITTEN: Readonly<Record<string, () => Promise<readonly Command[]>>> = {
  user: async () => [(await import('./verbs/user-password.ts')).passwordCommand],
  media: async () => {
    const { mediaAddCommand, mediaCheckCommand } = await import('./verbs/media.ts')
    return [mediaAddCommand, mediaCheckCommand]
  },
  event: async () => {
    const { eventTailCommand, eventTriggerCommand, eventVerifyCommand } = await import('./verbs/events.ts')
    return [eventTailCommand, eventTriggerCommand, eventVerifyCommand]
  },
  audit: async () => [(await import('./store/audit-verify.ts')).auditVerifyCommand],
}

/** `first`: the first word of the command line. If it names a command or a noun, the program has no others. */
export async function createProgram(first?: string): Promise<Command> {
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
  for (const command of await commandsFor(first))
    program.addCommand(command, { hidden: HIDDEN.includes(command.name()) })
  throwInsteadOfExit(program)
  return program
}

async function commandsFor(first: string | undefined): Promise<Command[]> {
  const command = first !== undefined && Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined
  if (command !== undefined) return [await command()]
  const { isNoun, nounCommands } = await import('./verbs/commands.ts')
  if (first !== undefined && isNoun(first)) return nounCommands(HANDWRITTEN, first)
  const all = Object.values({ ...COMMANDS, ...ABOUT_COMMANDS })
  return [...(await Promise.all(all.map(load => load()))), ...(await nounCommands(HANDWRITTEN))]
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
    const program = await createProgram(args[0])
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    return toExitCode(error)
  } finally {
    await logLines.flush(FLUSH_MILLISECONDS)
  }
}

/** Gives usage errors of every command our wording and exit code. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride().configureOutput({
    // What is not written to a terminal is often read on one, through a pager.
    writeOut: text => process.stdout.write(fitHelp(text, widthOfTerminal(process.stdout) ?? STANDARD_WIDTH)),
    outputError: (text, write) => write(wordUsageError(command, text)),
  })
  if (command.commands.length > 0)
    command.on('command:*', ([word = '']: readonly string[]) => {
      throw unknownCommand(command, word)
    })
  for (const each of command.commands) throwInsteadOfExit(each)
}

function toExitCode(error: unknown): number {
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
