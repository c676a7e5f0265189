import { tmpdir } from 'node:os'
import { parseEnv } from 'node:util'
import type { OAuthRates } from './auth/oauth-limits.ts'
import type { Lifetimes } from './auth/tokens.ts'
import { Networks, readNetworks } from './http/client-address.ts'
import type { RateLimits } from './http/rate-limit.ts'
import { hostUrls } from './kit/connection-url.ts'
import type { MasterKey } from './kit/key-ring.ts'
import { LOG_LEVELS, type LogLevel } from './kit/log.ts'
import { nearestName } from './kit/nearest.ts'
import { MAX_INPUT_FILE, readSmallFile } from './kit/small-file.ts'

/** A number beyond these is a slip of the keyboard, and would take the machine or a deployment with it. */
const MAX_WORKERS = 256
const MAX_DATABASE_CONNECTIONS = 1000
const MAX_DRAIN_SECONDS = 3600
const MAX_STORE_WAIT_SECONDS = 86_400

/** Every setting, decided. */
export interface Config {
  readonly listen: Address
  readonly workers: number
  /** How long a server that was asked to stop goes on answering, so that a proxy can notice. */
  readonly drainSeconds: number
  readonly signUp: boolean
  /** Accounts that people may make from one network in a day; 0 for no limit. */
  readonly signUpsPerDay: number
  readonly operatorListen: Address | undefined
  readonly publicUrl: string | undefined
  readonly dataFolder: string
  /** Where an export or import is kept while it is worked on. */
  readonly spoolFolder: string
  readonly databaseUrl: string | undefined
  readonly databaseConnections: number
  readonly databasePooled: boolean
  /** Whether the schema of an older store is brought up to date when it is opened. */
  readonly migrate: boolean
  /** How long `serve` waits at its start for a PostgreSQL that it can write to. */
  readonly storeWaitSeconds: number
  readonly operatorToken: string | undefined
  readonly masterKeys: readonly MasterKey[] | undefined
  /** Seals and opens the secrets in backups. */
  readonly backupPassphrase: string | undefined
  /** Ids of master keys that nobody has any more. */
  readonly lostMasterKeys: readonly string[]
  readonly rateLimits: RateLimits
  readonly oauthRates: OAuthRates
  readonly lifetimes: Lifetimes
  readonly keep: Retention
  /** The largest body of an import over HTTP. */
  readonly importBytes: number
  readonly sweepSeconds: number
  /** How long a clock that jumped must run steadily before anything is deleted by it. */
  readonly clockSettlingHours: number
  readonly trustedProxies: Networks
  readonly logLevel: LogLevel
  readonly logReadable: boolean
  /** A line for each request at level info. */
  readonly accessLog: boolean
}

/** How long things are kept that nobody needs in order to be served, in days. */
export interface Retention {
  /** After its stream ended; 0 for ever. */
  readonly videosDays: number
  /** After it ended. */
  readonly tokensDays: number
  /** 0 for ever. */
  readonly auditDays: number
}

export interface Address {
  readonly host: string
  readonly port: number
}

type Source = Readonly<Record<string, string | undefined>>

/** Thrown with every wrong setting in it, not only the first. */
export class InvalidSettings extends Error {
  override readonly name = 'WrongSettings'
  readonly violations: readonly string[]
  /** Whether one of them was said on the command line. */
  readonly isOfFlags: boolean

  constructor(violations: readonly string[], isOfFlags = false) {
    super(violations.join('\n'))
    this.violations = violations
    this.isOfFlags = isOfFlags
  }
}

/** The names and meanings of all settings: `strand serve --help` and the documents list these. */
export const SETTINGS: Readonly<Record<string, string>> = {
  STRAND_LISTEN: 'host:port of the public listener; localhost:8080 if left out',
  STRAND_WORKERS: 'processes that serve together on the same port and store (Linux); 1 if left out',
  STRAND_DRAIN_SECONDS:
    'behind a proxy with other nodes: how long a stopping server still answers while /readyz says 503; 0 if left out',
  STRAND_SIGN_UP: 'open or closed: whether people may make accounts themselves; closed if left out',
  STRAND_SIGN_UPS_PER_DAY:
    'accounts that people may make from one network in a day, where sign-up is open; default: 50, 0 for no limit',
  STRAND_OPERATOR_LISTEN:
    "host:port of the operator's listener, with /control and /metrics; the public one if that is loopback without a proxy in front",
  STRAND_PUBLIC_URL: 'the base URL that clients use, in links to thumbnails and videos',
  STRAND_DATA: 'folder of the embedded store, the operator token and the master key; ./data if left out',
  STRAND_SPOOL:
    "folder with room for a whole export or import over HTTP while it is worked on; default: the data folder, with PostgreSQL the system's temporary folder",
  DATABASE_URL:
    'postgres://user@host/strand: PostgreSQL instead of the embedded store; several hosts with commas, the one that can be written to is found',
  STRAND_DATABASE_CONNECTIONS: 'connections to PostgreSQL; 10 if left out',
  STRAND_DATABASE_POOLER:
    'none, or transaction where PgBouncer or the like gives a connection for one transaction at a time; none if left out',
  STRAND_MIGRATE:
    'auto or off: whether opening a store brings its schema up to date; with off, only strand migrate does; auto if left out',
  STRAND_STORE_WAIT_SECONDS:
    'seconds that strand serve waits at its start until PostgreSQL can be written to; default: 0, which ends at once with the reason',
  STRAND_OPERATOR_TOKEN:
    'the operator token, 20 characters or more; else it is in the file operator-token of the data folder',
  STRAND_MASTER_KEYS:
    'id:base64 of 32 bytes, newest first, comma separated; else the file master-keys of the data folder',
  STRAND_LOST_MASTER_KEYS:
    'ids of master keys that are lost, comma separated: stream keys that they sealed cannot be read, and have to be rotated',
  STRAND_BACKUP_PASSPHRASE:
    'the passphrase of the secrets in backups, 8 characters or more, for strand backup, verify and restore; --passphrase-file wins over it',
  STRAND_RATE_APP: 'points per minute and client for app tokens; 800 if left out, 0 for no limit',
  STRAND_RATE_USER: 'points per minute, client and user for user tokens; 800, 0 for no limit',
  STRAND_RATE_ANONYMOUS: 'points per minute and address without a token; 800, 0 for no limit',
  STRAND_RATE_OAUTH_ADDRESS:
    'requests per minute and address to /oauth2 and the pages, in each process; default: 1200, 0 for no limit',
  STRAND_RATE_OAUTH_CLIENT:
    'requests per minute and client to /oauth2, in each process; default: 6000, 0 for no limit',
  STRAND_RATE_OAUTH_VALIDATE:
    'validations of good tokens per minute and client, in each process; default: 60000, 0 for no limit',
  STRAND_APP_TOKEN_SECONDS: 'lifetime of app tokens; 5184000',
  STRAND_USER_TOKEN_SECONDS: 'lifetime of user tokens; 14400',
  STRAND_REFRESH_TOKEN_SECONDS: 'lifetime of the refresh tokens of public clients; 2592000',
  STRAND_CODE_SECONDS: 'lifetime of authorization codes; 60',
  STRAND_DEVICE_CODE_SECONDS: 'lifetime of device codes; 1800',
  STRAND_SESSION_SECONDS: 'how long a browser stays logged in after its last use; 2592000',
  STRAND_KEEP_VIDEOS_DAYS:
    'days that a video and its markers are kept after its stream ended; 0, which is for ever, if left out',
  STRAND_KEEP_TOKENS_DAYS:
    'days that the record of a token is kept after it ran out, for those who look into what happened; 0 if left out',
  STRAND_KEEP_AUDIT_DAYS: 'days that a row of the audit log is kept; 0, which is for ever, if left out',
  STRAND_IMPORT_MIB: 'largest body of POST /control/import, in MiB; default: 16384',
  STRAND_SWEEP_SECONDS: 'seconds between two removals of what has expired or need not be kept; default: 60',
  STRAND_CLOCK_SETTLING_HOURS:
    'hours that a clock which jumped forward must run steadily before anything is deleted by it; default: 24, 0 for at once',
  STRAND_TRUSTED_PROXIES: 'addresses or networks, comma separated, whose X-Forwarded-For is believed',
  STRAND_LOG: `${LOG_LEVELS.join(', ')}; info if left out`,
  STRAND_LOG_FORMAT: 'json or readable; readable on a terminal, json elsewhere',
  STRAND_ACCESS_LOG: 'on or off: a log line at level info for each answered request; default: off',
}

/** Settings from flags, the environment and a file of NAME=value lines, in this order of weight. */
export function readConfig(
  flags: Source,
  file: string | undefined,
  environment: Source = process.env,
): Config {
  const fromFile = file === undefined ? {} : readSettingsFile(file)
  return decide({ ...fromFile, ...environment, ...given(flags) }, flags)
}

/** Where the value of a setting comes from. */
export type Origin = 'flag' | 'environment' | 'file' | 'default'

export interface EffectiveSetting {
  readonly name: string
  /** Undefined if nothing is set and nothing stands in for it. Secrets are not shown. */
  readonly value: string | undefined
  readonly from: Origin
}

/** Every setting as it is in effect, for people to look at. Throws like `readConfig`. */
export function effectiveSettings(flags: Source, file: string | undefined): EffectiveSetting[] {
  const sources: readonly (readonly [Origin, Source])[] = [
    ['flag', given(flags)],
    ['environment', process.env],
    ['file', file === undefined ? {} : readSettingsFile(file)],
  ]
  const standards = new Map<string, string>()
  const { listen, dataFolder, spoolFolder } = decide(
    Object.assign({}, ...sources.map(([, source]) => source).toReversed()),
    flags,
    standards,
  )
  standards
    .set('STRAND_LISTEN', `${listen.host}:${listen.port}`)
    .set('STRAND_DATA', dataFolder)
    .set('STRAND_SPOOL', spoolFolder)
  return Object.keys(SETTINGS).map(name => {
    const [from, source] = sources.find(([, each]) => Boolean(each[name]?.trim())) ?? []
    const value = source?.[name]?.trim() ?? standards.get(name)
    return { name, value: value && shownValue(name, value), from: from ?? 'default' }
  })
}

function shownValue(name: string, value: string): string {
  if (/(TOKEN|KEYS?|SECRET|PASSWORD|PASSPHRASE)$/.test(name)) return '(set, not shown)'
  return value.replace(/(:\/\/[^:@/]*):[^@]*@/, '$1:***@').replace(/(password=)[^&]*/i, '$1***')
}

function readSettingsFile(file: string): Source {
  try {
    return parseEnv(readSmallFile(file, MAX_INPUT_FILE))
  } catch {
    throw new InvalidSettings([`--config ${file} cannot be read: give a file of NAME=value lines`])
  }
}

function given(flags: Source): Source {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))
}

/** The flag that gives a setting for one command, of those that have one. */
const flagOf = (name: string) =>
  `--${name
    .replace(/^STRAND_/, '')
    .toLowerCase()
    .replaceAll('_', '-')}`

/** What came from `flags` is complained of by the flag. `standards` is told what stands in for a setting that was left out. */
function decide(source: Source, flags: Source, standards = new Map<string, string>()): Config {
  const violations: string[] = []
  let isOfFlags = false
  const reject = (name: string, why: string): undefined => {
    const isFlag = Boolean(flags[name])
    if (isFlag) isOfFlags = true
    violations.push(`${isFlag ? flagOf(name) : name} ${why}`)
    return undefined
  }
  for (const name of Object.keys(source)) {
    if (name.startsWith('STRAND_') && !Object.hasOwn(SETTINGS, name)) {
      const meant = nearestName(name, Object.keys(SETTINGS))
      reject(name, meant === undefined ? 'is not a setting' : `is not a setting: did you mean ${meant}?`)
    }
  }

  const text = (name: string) => source[name]?.trim() || undefined
  const whole = (name: string, standard: number, low: number, high = 999_999_999): number => {
    const value = text(name)
    standards.set(name, String(standard))
    if (value === undefined) return standard
    if (/^[0-9]{1,9}$/.test(value) && Number(value) >= low && Number(value) <= high) return Number(value)
    reject(name, `must be a whole number of at least ${low} and at most ${high}, not "${value}"`)
    return standard
  }
  const address = (name: string): Address | undefined => {
    const value = text(name)
    if (value === undefined) return undefined
    const [, bracketed, plain, port = ''] = /^(?:\[([^\]]+)\]|([^:]+)):([0-9]{1,5})$/.exec(value) ?? []
    const host = bracketed ?? plain
    if (host === undefined || Number(port) > 65535) return reject(name, `must be host:port, not "${value}"`)
    return { host, port: Number(port) }
  }
  const oneOf = <T extends string>(name: string, allowed: readonly T[], standard: T): T => {
    const value = text(name) ?? standard
    standards.set(name, standard)
    if ((allowed as readonly string[]).includes(value)) return value as T
    reject(name, `must be one of ${allowed.join(', ')}, not "${value}"`)
    return standard
  }
  const url = (name: string, schemes: readonly string[]): string | undefined => {
    const value = text(name)
    if (value === undefined) return undefined
    const isUrl = hostUrls(value).every(
      each => URL.canParse(each) && schemes.includes(new URL(each).protocol.slice(0, -1)),
    )
    return isUrl ? value.replace(/\/+$/, '') : reject(name, `must be a ${schemes.join(' or ')} URL`)
  }

  const listen = address('STRAND_LISTEN') ?? { host: 'localhost', port: 8080 }
  const operatorListen = address('STRAND_OPERATOR_LISTEN')
  if (operatorListen === undefined && !isLoopback(listen.host)) {
    reject(
      'STRAND_LISTEN',
      `is ${listen.host}, which others can reach, and the operator's side would be there too: set STRAND_OPERATOR_LISTEN, for example to localhost:8081`,
    )
  }
  const operatorToken = text('STRAND_OPERATOR_TOKEN')
  if (operatorToken !== undefined && !/^[\x21-\x7e]{20,}$/.test(operatorToken)) {
    reject('STRAND_OPERATOR_TOKEN', 'must be at least 20 visible characters')
  }
  const backupPassphrase = text('STRAND_BACKUP_PASSPHRASE')
  if (backupPassphrase !== undefined && backupPassphrase.length < 8) {
    reject('STRAND_BACKUP_PASSPHRASE', 'must be at least 8 characters')
  }
  const networks = readNetworks(
    text('STRAND_TRUSTED_PROXIES')
      ?.split(',')
      .map(each => each.trim()) ?? [],
  )
  if (networks === undefined)
    reject('STRAND_TRUSTED_PROXIES', 'must be addresses or networks such as 10.0.0.0/8')
  const publicUrl = url('STRAND_PUBLIC_URL', ['http', 'https'])
  // A proxy in front of a loopback listener makes it as public as any other.
  const proxied = [
    publicUrl !== undefined && !isLoopback(hostOf(publicUrl)) && 'STRAND_PUBLIC_URL',
    networks !== undefined && text('STRAND_TRUSTED_PROXIES') !== undefined && 'STRAND_TRUSTED_PROXIES',
  ].find(name => name !== false)
  if (operatorListen === undefined && isLoopback(listen.host) && proxied !== undefined) {
    reject(
      proxied,
      `says that a proxy passes requests on to ${listen.host}, and the operator's side would be behind it too: set STRAND_OPERATOR_LISTEN, for example to localhost:8081`,
    )
  }

  const dataFolder = text('STRAND_DATA') ?? './data'
  const databaseUrl = url('DATABASE_URL', ['postgres', 'postgresql'])
  const config: Config = {
    listen,
    workers: whole('STRAND_WORKERS', 1, 1, MAX_WORKERS),
    drainSeconds: whole('STRAND_DRAIN_SECONDS', 0, 0, MAX_DRAIN_SECONDS),
    signUp: oneOf('STRAND_SIGN_UP', ['open', 'closed'], 'closed') === 'open',
    signUpsPerDay: whole('STRAND_SIGN_UPS_PER_DAY', 50, 0),
    operatorListen,
    publicUrl,
    dataFolder,
    spoolFolder: text('STRAND_SPOOL') ?? (databaseUrl === undefined ? dataFolder : tmpdir()),
    databaseUrl,
    databaseConnections: whole('STRAND_DATABASE_CONNECTIONS', 10, 2, MAX_DATABASE_CONNECTIONS),
    databasePooled: oneOf('STRAND_DATABASE_POOLER', ['none', 'transaction'], 'none') === 'transaction',
    migrate: oneOf('STRAND_MIGRATE', ['auto', 'off'], 'auto') === 'auto',
    storeWaitSeconds: whole('STRAND_STORE_WAIT_SECONDS', 0, 0, MAX_STORE_WAIT_SECONDS),
    operatorToken,
    backupPassphrase,
    masterKeys: masterKeys(text('STRAND_MASTER_KEYS'), reject),
    lostMasterKeys:
      text('STRAND_LOST_MASTER_KEYS')
        ?.split(',')
        .map(id => id.trim()) ?? [],
    rateLimits: {
      app: whole('STRAND_RATE_APP', 800, 0),
      user: whole('STRAND_RATE_USER', 800, 0),
      anonymous: whole('STRAND_RATE_ANONYMOUS', 800, 0),
    },
    oauthRates: {
      address: whole('STRAND_RATE_OAUTH_ADDRESS', 1200, 0),
      client: whole('STRAND_RATE_OAUTH_CLIENT', 6000, 0),
      validation: whole('STRAND_RATE_OAUTH_VALIDATE', 60_000, 0),
    },
    lifetimes: {
      app_seconds: whole('STRAND_APP_TOKEN_SECONDS', 5_184_000, 1),
      user_seconds: whole('STRAND_USER_TOKEN_SECONDS', 14_400, 1),
      refresh_seconds: whole('STRAND_REFRESH_TOKEN_SECONDS', 2_592_000, 1),
      code_seconds: whole('STRAND_CODE_SECONDS', 60, 1),
      device_code_seconds: whole('STRAND_DEVICE_CODE_SECONDS', 1800, 1),
      session_seconds: whole('STRAND_SESSION_SECONDS', 2_592_000, 1),
    },
    keep: {
      videosDays: whole('STRAND_KEEP_VIDEOS_DAYS', 0, 0),
      tokensDays: whole('STRAND_KEEP_TOKENS_DAYS', 0, 0),
      auditDays: whole('STRAND_KEEP_AUDIT_DAYS', 0, 0),
    },
    importBytes: whole('STRAND_IMPORT_MIB', 16_384, 1) * 1024 * 1024,
    sweepSeconds: whole('STRAND_SWEEP_SECONDS', 60, 1),
    clockSettlingHours: whole('STRAND_CLOCK_SETTLING_HOURS', 24, 0),
    trustedProxies: networks ?? new Networks(),
    logLevel: oneOf('STRAND_LOG', LOG_LEVELS, 'info'),
    logReadable:
      oneOf('STRAND_LOG_FORMAT', ['json', 'readable'], process.stderr.isTTY ? 'readable' : 'json') ===
      'readable',
    accessLog: oneOf('STRAND_ACCESS_LOG', ['on', 'off'], 'off') === 'on',
  }
  if (violations.length > 0) throw new InvalidSettings(violations, isOfFlags)
  return config
}

/** The address as one would type it into a browser. */
export function urlOf({ host, port }: Address): string {
  const shown = host === '127.0.0.1' ? 'localhost' : host
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.[0-9.]+$/.test(host)
}

const hostOf = (url: string) => new URL(url).hostname.replace(/^\[|\]$/g, '')

/** `id:base64,id:base64`: the form of the setting and of the file. */
export function parseMasterKeys(text: string): MasterKey[] | undefined {
  const keys: MasterKey[] = []
  for (const each of text.split(',')) {
    const [, id, encoded = ''] = /^\s*([A-Za-z0-9-]{1,32}):([A-Za-z0-9+/_-]+={0,2})\s*$/.exec(each) ?? []
    const bytes = new Uint8Array(Buffer.from(encoded, 'base64'))
    if (id === undefined || bytes.length !== 32 || keys.some(key => key.id === id)) return undefined
    keys.push({ id, bytes })
  }
  return keys
}

/** The same form, written. */
export function masterKeysText(keys: readonly MasterKey[]): string {
  return keys.map(({ id, bytes }) => `${id}:${Buffer.from(bytes).toString('base64')}`).join(',')
}

function masterKeys(
  text: string | undefined,
  reject: (name: string, why: string) => undefined,
): MasterKey[] | undefined {
  if (text === undefined) return undefined
  return (
    parseMasterKeys(text) ??
    reject('STRAND_MASTER_KEYS', 'must be id:base64 of 32 bytes, comma separated, each id once')
  )
}
