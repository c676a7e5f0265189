import type { Command } from 'commander'
import { type LocalApp, openLocalApp } from '../../app.ts'
import { type Client, createClient } from '../../client/index.ts'
import { type Config, readConfig } from '../../config.ts'
import { createLog } from '../../kit/log.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { MAX_SECRET_FILE, readSmallFile } from '../../kit/small-file.ts'
import { COMMAND_LINE } from '../command-line.ts'
import { type StoreFlags, settingsOfExistingStore, storeFlags } from '../store-flags.ts'
import { UsageError } from '../usage-error.ts'

/** Where a verb does its work. */
export interface TargetFlags extends StoreFlags {
  readonly url?: string
  readonly tokenFile?: string
}

/** The server or the store that a verb works on. */
export interface Target {
  readonly client: Client
  close(): Promise<void>
}

/** A token is never a flag: others on the machine could read it in the list of processes. */
export function targetFlags(command: Command): Command {
  return storeFlags(command)
    .option('--url <url>', "work on a running server, at the URL of its operator's side")
    .option(
      '--token-file <file>',
      'with --url: the file with the operator token, unless STRAND_OPERATOR_TOKEN is set',
    )
}

/**
 * With `--url` a server is asked. Without it the store itself is opened, and the same requests are answered inside this
 * process; a server may run on the store meanwhile and notices within a second.
 */
export async function openTarget(flags: TargetFlags): Promise<Target> {
  const server = serverOf(flags)
  if (server === undefined) return openLocal(flags)
  return { client: createClient(server), close: async () => undefined }
}

/** A server that is asked, and by what right. */
export interface Server {
  readonly baseUrl: string
  readonly operatorToken: string
}

/** The server that the flags name; undefined if they name a store. Words that name both, or half of one, are refused. */
export function serverOf(flags: TargetFlags): Server | undefined {
  const { url: given, tokenFile } = flags
  if (given === undefined) {
    if (tokenFile !== undefined) throw new UsageError('--token-file goes with --url')
    return undefined
  }
  if (flags.data !== undefined || flags.databaseUrl !== undefined) {
    throw new UsageError('--url names a server, and --data or --database-url a store: give one of them')
  }
  if (!/^https?:\/\//.test(given) || !URL.canParse(given)) {
    throw new UsageError(`--url must be an http or https URL, not "${given}"`)
  }
  const baseUrl = given.replace(/\/+$/, '').replace(/\/control$/, '')
  const operatorToken =
    tokenFile === undefined ? readConfig({}, flags.config).operatorToken : readTokenFile(tokenFile)
  if (operatorToken === undefined) {
    throw new UsageError(
      '--url needs the operator token: name its file with --token-file, or set STRAND_OPERATOR_TOKEN',
    )
  }
  return { baseUrl, operatorToken }
}

function readTokenFile(file: string): string {
  let token: string
  try {
    token = readSmallFile(file, MAX_SECRET_FILE).trim()
  } catch (error) {
    throw new OperatorError(`the token file ${file} cannot be read: ${(error as Error).message}`)
  }
  if (/^[\x21-\x7e]{20,}$/.test(token)) return token
  throw new OperatorError(`the token file ${file} must have one token in it, and nothing else`)
}

/** The local app, with the command line as the actor in the audit log. */
export function openAppOf(config: Config): Promise<LocalApp> {
  const log = createLog({ level: 'error', readable: true })
  return openLocalApp({ config, log, actor: COMMAND_LINE })
}

async function openLocal(flags: TargetFlags): Promise<Target> {
  const app = await openAppOf(settingsOfExistingStore(flags))
  const client = createClient({
    baseUrl: 'http://localhost',
    operatorToken: app.operatorToken,
    fetch: (url, init) => app.answer(new Request(url, init)),
  })
  return { client, close: () => app.close() }
}
