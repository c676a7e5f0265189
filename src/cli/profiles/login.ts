import { Command } from 'commander'
import { isLoopback } from '../../config/config.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { callControl } from '../remote.ts'
import { baseUrl, invalid } from '../terminal/flag-values.ts'
import { printResult } from '../terminal/print.ts'
import { readSecret } from '../terminal/read-secret.ts'
import { UsageError } from '../usage-error.ts'
import { profileFile, readProfiles, writeProfiles } from './profile-file.ts'

interface LoginFlags {
  readonly profile?: string
  readonly json?: boolean
}

const PROFILE_NAME = { pattern: /^[A-Za-z0-9.:-]{1,60}$/, hint: '1 to 60 letters, digits or .:-' }

function readProfileName(name: string): (text: string) => string {
  return text => {
    if (PROFILE_NAME.pattern.test(text)) return text
    throw invalid(name, `must be ${PROFILE_NAME.hint}`)
  }
}

export const loginCommand = new Command('login')
  .description('store the URL and the operator token of a server, so that commands use it without flags')
  .argument('<url>', 'URL of the operator listener', baseUrl('<url>'))
  .option(
    '--profile <name>',
    'name of the profile; default: the host of the URL',
    readProfileName('--profile'),
  )
  .option('--json', 'print the profile as one line of JSON, without the token')
  .addHelpText(
    'after',
    `
Asks for the token without echo, or reads it from standard input. It is checked first, and stored with mode 0600 in
strand/profiles.json in the configuration folder of the user (XDG_CONFIG_HOME, default: ~/.config). The profile becomes the
current one. A command uses, in this order: flags (--url, --profile, --data, --database-url), the environment (STRAND_URL,
STRAND_PROFILE, STRAND_DATA, DATABASE_URL), the current profile, and the store in ./data.

Examples:
  strand login http://localhost:8080 < operator-token
  strand login http://localhost:8080 --profile demo < operator-token`,
  )
  .action(runLogin)

async function runLogin(given: string, flags: LoginFlags): Promise<void> {
  const { hostname, host, protocol, username, password, search, hash } = new URL(given)
  if (username !== '' || password !== '' || search !== '' || hash !== '')
    throw invalid('<url>', 'must have no user, password, query or fragment')
  const url = given.replace(/\/control$/, '')
  const name = flags.profile ?? readProfileName('--profile')(host.replaceAll(/[[\]]/g, ''))
  const before = readProfiles()
  if (protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, '')))
    process.stderr.write(
      `strand: warning: the token is sent unencrypted to ${host}: use https over a network\n`,
    )
  const token = await readToken(hostname)
  await callControl({ baseUrl: url, operatorToken: token }, '/operators?first=1')
  const others = before.profiles.filter(profile => profile.name !== name)
  writeProfiles({ current: name, profiles: [...others, { name, url, token }] })
  await printResult(
    flags,
    { name, url, file: profileFile() },
    `Logged in to ${url}. Commands use this server from now on.\nThe token is in ${profileFile()}, which only you can read.`,
  )
}

async function readToken(host: string): Promise<string> {
  const token = (await readSecret(`Operator token of ${host}`)).trim()
  if (token === '') throw new UsageError('missing operator token: give it on standard input')
  if (/^[\x21-\x7e]{20,}$/.test(token)) return token
  throw new OperatorError('invalid operator token: must be at least 20 visible characters and nothing else')
}
