import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { Command } from 'commander'
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from '../auth/passwords.ts'
import { CannotStart } from '../kit/cannot-start.ts'
import { randomAlphanumerics } from '../kit/id.ts'
import { print } from './print.ts'
import { userIdOf } from './verbs/input.ts'
import { openTarget, type TargetFlags, targetFlags } from './verbs/target.ts'

interface PasswordFlags extends TargetFlags {
  readonly generate: boolean
}

export const passwordCommand = targetFlags(new Command('password'))
  .description(
    'set the password of a user; who is logged in with the old one is logged out, and its tokens end',
  )
  .argument('<user>', 'the user, by id or login')
  .option('--generate', 'make a password up and print it, instead of reading one from standard input', false)
  .addHelpText(
    'after',
    `
The server may run meanwhile; it notices within a second.

Examples:
  strand user password lunar_otter --generate
  strand user password lunar_otter --data /var/lib/strand < new-password.txt`,
  )
  .action(setPassword)

async function setPassword(given: string, flags: PasswordFlags): Promise<void> {
  const password = flags.generate ? randomAlphanumerics(20) : await readPassword()
  const target = await openTarget(flags)
  try {
    const user_id = await userIdOf(target.client, given)
    await target.client.control.getUser({ user_id })
    await target.client.control.putUser({ user_id, password })
    await print(flags.generate ? `${password}\n` : `The password of ${given} is set.\n`)
  } finally {
    await target.close()
  }
}

/** The first line of standard input. At a terminal it is asked for, and not shown. */
async function readPassword(): Promise<string> {
  const isTerminal = process.stdin.isTTY === true
  if (isTerminal) process.stderr.write('New password: ')
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: isTerminal })
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close').then(() => [''])])
  lines.close()
  if (isTerminal) process.stderr.write('\n')
  if (line.length >= SHORTEST_PASSWORD && line.length <= LONGEST_PASSWORD) return line
  throw new CannotStart(
    `give a password of ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters on standard input, or --generate`,
  )
}
