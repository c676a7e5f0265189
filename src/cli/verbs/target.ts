import type { Command } from 'commander'
import { type Client, createClient } from '../../client/index.ts'
import { type Config, effectiveSettings } from '../../config/config.ts'
import { SETTINGS } from '../../config/settings.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { MAX_SECRET_FILE } from '../../kit/small-file.ts'
import { createErrorLog } from '../../kit/telemetry/log.ts'
import { type LocalApp, openLocalApp } from '../../server/local-app.ts'
import { COMMAND_LINE } from '../command-line.ts'
import { currentProfile, type Profile, profileNamed, readProfiles } from '../profiles/profile-file.ts'
import {
  readStoreConfig,
  type StoreFlags,
  settingsIn,
  settingsOfExistingStore,
  storeFlags,
} from '../store-flags.ts'
import { baseUrl, readGivenFile } from '../terminal/flag-values.ts'
import { UsageError } from '../usage-error.ts'

/** Flags that select the server or the store of a verb. */
export interface TargetFlags extends StoreFlags {
  readonly url?: string
  readonly profile?: string
  readonly tokenFile?: string
}

/** A client of the server or of the opened store. */
export interface Target {
  readonly client: Client
  readonly server: Server
  /** Sends a request to it, which is answered in this process if there is no server. */
  readonly send: (url: string, init: RequestInit) => Promise<Response>
  close(): Promise<void>
}

/** There is no flag for the token itself, because other users could read it in the list of processes. */
export function targetFlags(command: Command): Command {
  return storeFlags(command)
    .option(
      '--url <url>',
      'URL of the operator listener of a running server to use instead of a store (STRAND_URL)',
      baseUrl('--url'),
    )
    .option('--profile <name>', 'use the server of this profile, from strand login (STRAND_PROFILE)')
    .option(
      '--token-file <file>',
      'with --url: file with the operator token; default: STRAND_OPERATOR_TOKEN, or that of a profile with this URL',
    )
}

/**
 * With a server, requests go to it. Without one, the store is opened and the same requests are handled in this process;
 * a server may run on the store and sees changes within a second.
 */
/** @param timeoutSeconds of a request; default: that of the client */
export async function openTarget(flags: TargetFlags, timeoutSeconds?: number): Promise<Target> {
  const server = requestedServer(flags)
  if (server === undefined) return openLocal(flags, timeoutSeconds)
  return {
    client: createClient({ ...server, timeoutSeconds }),
    server,
    send: fetch,
    close: async () => undefined,
  }
}

/** Opens the target for `work` and closes it afterwards. */
export async function withTarget<T>(flags: TargetFlags, work: (client: Client) => Promise<T>): Promise<T> {
  const target = await openTarget(flags)
  try {
    return await work(target.client)
  } finally {
    await target.close()
  }
}

/** A server and the token for it. */
export interface Server {
  readonly baseUrl: string
  readonly operatorToken: string
}

/**
 * The server that is selected; undefined for a store. Flags take precedence over the environment, and the environment over
 * the current profile. Throws if they are incomplete or contradict each other.
 */
export function requestedServer(flags: TargetFlags): Server | undefined {
  const { url, profile, tokenFile } = flags
  const namesStore = flags.data !== undefined || flags.databaseUrl !== undefined
  const server = url === undefined ? '--profile' : '--url'
  if (namesStore && (url ?? profile) !== undefined)
    throw new UsageError(`${server} cannot be combined with --data or --database-url`)
  if (url !== undefined && profile !== undefined)
    throw new UsageError('--url cannot be combined with --profile')
  const chosen = chooseServer(flags)
  if (chosen === undefined) {
    if (tokenFile !== undefined) throw new UsageError('--token-file requires --url')
    return undefined
  }
  const operatorToken =
    tokenFile === undefined
      ? (readStoreConfig(flags).operatorToken ?? chosen.token)
      : readTokenFile(tokenFile)
  if (operatorToken === undefined) {
    const name = url === undefined ? SETTINGS.url.name : '--url'
    throw new UsageError(
      `${name} requires the operator token: run strand login, give its file with --token-file, or set STRAND_OPERATOR_TOKEN`,
    )
  }
  return { baseUrl: chosen.url.replace(/\/control$/, ''), operatorToken }
}

/** A URL and the token of a profile with it, if there is one. The token of a profile is sent to no other server. */
function chooseServer(flags: TargetFlags): (Pick<Profile, 'url'> & Partial<Profile>) | undefined {
  if (flags.url !== undefined) return withToken(flags.url)
  if (flags.profile !== undefined) return profileNamed(flags.profile)
  if (flags.data !== undefined || flags.databaseUrl !== undefined) return undefined
  const config = readStoreConfig(flags)
  if (config.url !== undefined) return withToken(config.url)
  if (config.profile !== undefined) return profileNamed(config.profile)
  return isStoreNamed(flags) ? undefined : currentProfile()
}

function withToken(url: string): Pick<Profile, 'url'> & Partial<Profile> {
  const plain = (each: string) => each.replace(/\/control$/, '')
  return readProfiles().profiles.find(each => plain(each.url) === plain(url)) ?? { url }
}

/** Whether the environment or the file of `--config` names a store. */
function isStoreNamed(flags: TargetFlags): boolean {
  if (flags.config !== undefined) return true
  const stores: readonly string[] = [SETTINGS.dataFolder.name, SETTINGS.databaseUrl.name]
  return effectiveSettings(settingsIn(flags), flags.config).some(
    ({ name, from }) => stores.includes(name) && from !== 'default',
  )
}

function readTokenFile(file: string): string {
  const token = readGivenFile(`--token-file ${file}`, file, MAX_SECRET_FILE).trim()
  if (/^[\x21-\x7e]{20,}$/.test(token)) return token
  throw new OperatorError(`invalid --token-file ${file}: must contain one token and nothing else`)
}

/** Opens the local app with the command line as the actor in the audit log. */
export function openApp(config: Config): Promise<LocalApp> {
  return openLocalApp({ config, log: createErrorLog(), actor: COMMAND_LINE })
}

async function openLocal(flags: TargetFlags, timeoutSeconds?: number): Promise<Target> {
  const app = await openApp(settingsOfExistingStore(flags))
  const server = { baseUrl: 'http://localhost', operatorToken: app.operatorToken }
  const send: Target['send'] = (url, init) => app.answer(new Request(url, init))
  return {
    client: createClient({ ...server, fetch: send, timeoutSeconds }),
    server,
    send,
    close: () => app.close(),
  }
}
