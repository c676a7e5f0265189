import { Command } from 'commander'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../auth/passwords.ts'
import { randomAlphanumerics } from '../../kit/id.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { printResult } from '../terminal/print.ts'
import { readSecret } from '../terminal/read-secret.ts'
import { type TargetFlags, targetFlags, withTarget } from './target.ts'
import { findUserId } from './users.ts'

interface PasswordFlags extends TargetFlags {
  readonly generate?: boolean
  readonly json?: boolean
}

export const passwordCommand = targetFlags(new Command('password'))
  .description('set the password of a user; ends their sessions and tokens')
  .argument('<user>', 'id or login of the user')
  .option('--generate', 'generate a password and print it, instead of reading one from standard input')
  .option('--json', 'print the id of the user and a generated password as one line of JSON')
  .addHelpText(
    'after',
    `
The server can keep running; it applies the change within a second.

Examples:
  strand user password lunar_otter --generate
  strand user password lunar_otter --data /var/lib/strand < new-password.txt`,
  )
  .action(setPassword)

async function setPassword(given: string, flags: PasswordFlags): Promise<void> {
  const password = flags.generate ? randomAlphanumerics(20) : await readPassword()
  await withTarget(flags, async client => {
    const user_id = await findUserId(client, given)
    await client.control.getUser({ user_id })
    await client.control.putUser({ user_id, password })
    await printResult(
      flags,
      { user_id, ...(flags.generate && { password }) },
      flags.generate ? password : `The password of ${given} is set.`,
    )
  })
}

async function readPassword(): Promise<string> {
  const line = await readSecret('New password')
  if (line.length >= MIN_PASSWORD_LENGTH && line.length <= MAX_PASSWORD_LENGTH) return line
  throw new OperatorError(
    `invalid password: must be ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters on standard input; or use --generate`,
  )
}
