import type { Command } from 'commander'
import { type LocalApp, openLocalApp } from '../../app.ts'
import { type Client, createClient } from '../../client/index.ts'
import type { Config } from '../../config.ts'
import { createLog } from '../../kit/log.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { MAX_SECRET_FILE, readSmallFile } from '../../kit/small-file.ts'
import { COMMAND_LINE } from '../command-line.ts'
import { configOf, type StoreFlags, settingsOfExistingStore, storeFlags } from '../store-flags.ts'
import { baseUrl } from '../terminal/flag-values.ts'
import { UsageError } from '../usage-error.ts'

/** Flags that select the server or the store of a verb. */
export interface TargetFlags extends StoreFlags {
  readonly url?: string
  readonly tokenFile?: string
}

/** A client of the server or of the opened store. */
export interface Target {
  readonly client: Client
  close(): Promise<void>
}

/** There is no flag for the token itself, because other users could read it in the list of processes. */
export function targetFlags(command: Command): Command {
  return storeFlags(command)
    .option(
      '--url <url>',
      'URL of the operator listener of a running server to use instead of a store',
      baseUrl('--url'),
    )
    .option('--token-file <file>', 'with --url: file with the operator token; default: STRAND_OPERATOR_TOKEN')
}

/**
 * With `--url`, requests go to a server. Without it, the store is opened and the same requests are handled in this process;
 * a server may run on the store and sees changes within a second.
 */
export async function openTarget(flags: TargetFlags): Promise<Target> {
  const server = serverOf(flags)
  if (server === undefined) return openLocal(flags)
  return { client: createClient(server), close: async () => undefined }
}

/** A server and the token for it. */
export interface Server {
  readonly baseUrl: string
  readonly operatorToken: string
}

/** The server that the flags select; undefined if they select a store. Throws if they are incomplete or select both. */
export function serverOf(flags: TargetFlags): Server | undefined {
  const { url, tokenFile } = flags
  if (url === undefined) {
    if (tokenFile !== undefined) throw new UsageError('--token-file requires --url')
    return undefined
  }
  if (flags.data !== undefined || flags.databaseUrl !== undefined) {
    throw new UsageError('--url cannot be combined with --data or --database-url')
  }
  const operatorToken = tokenFile === undefined ? configOf(flags).operatorToken : readTokenFile(tokenFile)
  if (operatorToken === undefined) {
    throw new UsageError(
      '--url requires the operator token: give its file with --token-file, or set STRAND_OPERATOR_TOKEN',
    )
  }
  return { baseUrl: url.replace(/\/control$/, ''), operatorToken }
}

function readTokenFile(file: string): string {
  let token: string
  try {
    token = readSmallFile(file, MAX_SECRET_FILE).trim()
  } catch (error) {
    throw new OperatorError(`cannot read --token-file ${file}: ${(error as Error).message}`)
  }
  if (/^[\x21-\x7e]{20,}$/.test(token)) return token
  throw new OperatorError(`invalid --token-file ${file}: must contain one token and nothing else`)
}

/** Opens the local app with the command line as the actor in the audit log. */
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
