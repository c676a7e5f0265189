import { Command } from 'commander'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../auth/passwords.ts'
import { randomAlphanumerics } from '../kit/id.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { print } from './print.ts'
import { readSecret } from './read-secret.ts'
import { openTarget, type TargetFlags, targetFlags } from './verbs/target.ts'
import { userIdOf } from './verbs/users.ts'

interface PasswordFlags extends TargetFlags {
  readonly generate: boolean
  readonly json: boolean
}

export const passwordCommand = targetFlags(new Command('password'))
  .description(
    'set the password of a user; who is logged in with the old one is logged out, and its tokens end',
  )
  .argument('<user>', 'the user, by id or login')
  .option('--generate', 'make a password up and print it, instead of reading one from standard input', false)
  .option('--json', 'print the id of the user, and a password that was made up, as one line of JSON', false)
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
    if (flags.json) {
      await print(`${JSON.stringify({ user_id, ...(flags.generate && { password }) })}\n`)
    } else await print(flags.generate ? `${password}\n` : `The password of ${given} is set.\n`)
  } finally {
    await target.close()
  }
}

async function readPassword(): Promise<string> {
  const line = await readSecret('New password')
  if (line.length >= MIN_PASSWORD_LENGTH && line.length <= MAX_PASSWORD_LENGTH) return line
  throw new OperatorError(
    `give a password of ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters on standard input, or --generate`,
  )
}
