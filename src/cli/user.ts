import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { Command } from 'commander'
import { hashPassword, LONGEST_PASSWORD, SHORTEST_PASSWORD } from '../auth/passwords.ts'
import { CannotStart } from '../kit/cannot-start.ts'
import { randomAlphanumerics } from '../kit/id.ts'
import { commandLine } from './command-line.ts'
import { print } from './print.ts'
import { openExistingStore, type StoreFlags, storeFlags } from './store-flags.ts'

interface PasswordFlags extends StoreFlags {
  readonly generate: boolean
}

const passwordCommand = storeFlags(new Command('password'))
  .description(
    'set the password of a user; who is logged in with the old one is logged out, and its tokens end',
  )
  .argument('<login>', 'the user name')
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

export const userCommand = new Command('user')
  .description('look after the people of this server')
  .addCommand(passwordCommand)

async function setPassword(login: string, flags: PasswordFlags): Promise<void> {
  const store = await openExistingStore(flags)
  try {
    const password = flags.generate ? randomAlphanumerics(20) : await readPassword()
    const user = await store.users.withLogin(login.toLowerCase())
    const outcome =
      user &&
      (await store
        .as(commandLine('strand user password'))
        .commands.changePassword({ user_id: user.id, password_hash: await hashPassword(password) }))
    if (outcome !== 'done') throw new CannotStart(`there is no user with the login "${login}"`)
    await print(flags.generate ? `${password}\n` : `The password of ${login} is set.\n`)
  } finally {
    await store.close()
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
