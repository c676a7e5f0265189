import { Command, CommanderError } from 'commander'
import { WrongSettings } from '../config.ts'
import { CannotStart } from '../kit/cannot-start.ts'
import { VERSION } from '../version.ts'
import { backupCommand } from './backup.ts'
import { CalledWrongly } from './called-wrongly.ts'
import { configCommand } from './config.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { keyRingCommand } from './key-ring.ts'
import { migrateCommand } from './migrate.ts'
import { print } from './print.ts'
import { docsCommand, openapiCommand } from './reference.ts'
import { restoreCommand } from './restore.ts'
import { serveCommand } from './serve.ts'
import { userCommand } from './user.ts'
import { verifyCommand } from './verify.ts'

/** Runs `strand` with these words and gives the exit code: 0 done, 1 failed, 2 called wrongly. */
export async function runProgram(words: readonly string[]): Promise<number> {
  const program = new Command('strand')
    .description('A streaming platform API that you run yourself.')
    .version(VERSION, '-v, --version')
    .exitOverride()
    .addCommand(demoCommand)
    .addCommand(serveCommand)
    .addCommand(migrateCommand)
    .addCommand(backupCommand)
    .addCommand(restoreCommand)
    .addCommand(verifyCommand)
    .addCommand(keyRingCommand)
    .addCommand(doctorCommand)
    .addCommand(configCommand)
    .addCommand(userCommand)
    .addCommand(openapiCommand)
    .addCommand(docsCommand, { hidden: true })
    .addCommand(new Command('version').description('print the version').action(() => print(`${VERSION}\n`)))
  for (const command of program.commands)
    for (const each of [command, ...command.commands]) each.exitOverride()
  try {
    await program.parseAsync(words, { from: 'user' })
    return 0
  } catch (error) {
    return exitCodeOf(error)
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof WrongSettings) {
    for (const complaint of error.complaints) say(complaint)
    return 1
  }
  if (error instanceof CalledWrongly) {
    say(error.message)
    return 2
  }
  if (error instanceof CannotStart) say(error.message)
  else say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return 1
}

function say(sentence: string): void {
  process.stderr.write(`strand: ${sentence}\n`)
}
