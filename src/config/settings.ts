/**
 * The settings, one row each: key in the configuration, name, kind of value, default, meaning. `Config`, `--help`,
 * docs/reference/settings.md, `strand config`, the flags of commands and the configuration of tests all derive from this
 * table. To add a setting, add a row.
 */
import { tmpdir } from 'node:os'
import { hostUrls } from '../kit/connection-url.ts'
import { type MasterKey, parseMasterKeys } from '../kit/crypto/key-ring.ts'
import { type Networks, readNetworks } from '../kit/networks.ts'
import { LOG_LEVELS, type LogLevel } from '../kit/telemetry/log.ts'

export interface Setting<T = unknown> extends Details {
  readonly name: string
  readonly kind: Kind<T>
}

interface Details {
  /** In the form that an operator writes; empty for an empty list. */
  readonly default?: Default
  /** For help, where the default is not a constant. */
  readonly defaultInWords?: string
  /** Never shown, neither by `strand config` nor in an error message. */
  readonly secret?: boolean
  readonly meaning: string
}

/** A function receives the texts of the settings above it in the table. */
type Default = string | ((text: (name: string) => string) => string)

/** A kind of value. */
interface Kind<T> {
  /** Completes the sentence "must be ...". */
  readonly form: string
  /** The value in the help of a flag: `--data <folder>`. */
  readonly sample: string
  readonly choices?: readonly string[]
  /** Its flag takes no value and means `1`. */
  readonly isSwitch?: boolean
  /** A malformed value may contain a password, so an error message does not repeat it. */
  readonly mayHoldPassword?: boolean
  /** Returns undefined for a malformed value. */
  parse(text: string): T | undefined
}

export interface Address {
  readonly host: string
  readonly port: number
}

const ADDRESS: Kind<Address> = {
  form: 'host:port',
  sample: 'host:port',
  parse: text => {
    const [, bracketed, plain, port = ''] = /^(?:\[([^\]]+)\]|([^:]+)):([0-9]{1,5})$/.exec(text) ?? []
    const host = bracketed ?? plain
    return host === undefined || Number(port) > 65535 ? undefined : { host, port: Number(port) }
  },
}
const SWITCH: Kind<boolean> = {
  ...choice({ 0: false, 1: true }),
  form: '0 or 1',
  isSwitch: true,
}
const FOLDER: Kind<string> = { form: 'a folder', sample: 'folder', parse: text => text }
const FILE: Kind<string> = { form: 'a file', sample: 'file', parse: text => text }
const MAX_RETRIES = 20
const MAX_RETRY_SECONDS = 604_800
const RETRY_SECONDS: Kind<readonly number[]> = {
  form: `1 to ${MAX_RETRIES} whole numbers of at most ${MAX_RETRY_SECONDS}, separated by commas`,
  sample: 'seconds',
  parse: text => {
    const numbers = listed(text).map(each => (/^[0-9]{1,6}$/.test(each) ? Number(each) : Number.NaN))
    const areValid = numbers.every(seconds => seconds <= MAX_RETRY_SECONDS)
    return numbers.length <= MAX_RETRIES && areValid ? numbers : undefined
  },
}
const NETWORKS: Kind<Networks> = {
  form: 'addresses or networks such as 10.0.0.0/8, separated by commas',
  sample: 'networks',
  parse: text => readNetworks(listed(text)),
}
const IDS: Kind<readonly string[]> = { form: 'ids separated by commas', sample: 'ids', parse: listed }
const MASTER_KEYS: Kind<readonly MasterKey[]> = {
  form: 'id:base64 of 32 bytes, separated by commas, each id once',
  sample: 'keys',
  parse: parseMasterKeys,
}
const OPERATOR_TOKEN = textLike('at least 20 visible characters', /^[\x21-\x7e]{20,}$/)
const PASSPHRASE = textLike('at least 8 characters', /^.{8,}$/su)
const VISIBLE = textLike('visible characters', /^[\x21-\x7e]+$/)
const LEVELS = Object.fromEntries(LOG_LEVELS.map(level => [level, level])) as Record<LogLevel, LogLevel>
const RATE = wholeNumber(0)
const SECONDS = wholeNumber(1)
const DAYS = wholeNumber(0)

export const SETTINGS = {
  listen: setting('STRAND_LISTEN', ADDRESS, {
    default: 'localhost:8080',
    meaning: 'address of the public listener',
  }),
  operatorListen: setting('STRAND_OPERATOR_LISTEN', ADDRESS, {
    meaning:
      'address of the operator listener, which serves /control and /metrics; required unless the public listener is on loopback with no proxy in front',
  }),
  healthListen: setting('STRAND_HEALTH_LISTEN', ADDRESS, {
    meaning:
      'address of a listener that serves only /healthz and /readyz, from a thread that answers even while the disk of the embedded store stops the process',
  }),
  rtmpListen: setting('STRAND_RTMP_LISTEN', ADDRESS, {
    meaning: 'address where encoders publish over RTMP; without it there is no embedded media server',
  }),
  record: setting('STRAND_RECORD', choice({ on: true, off: false }), {
    default: 'off',
    meaning: 'whether the embedded media server records broadcasts in the data folder',
  }),
  recordMebibytes: setting('STRAND_RECORD_MIB', wholeNumber(1), {
    default: '20480',
    meaning: 'maximum size of one recording in MiB',
  }),
  recordingsGibibytes: setting('STRAND_RECORDINGS_GIB', wholeNumber(1), {
    defaultInWords: '80 % of the disk',
    meaning:
      'maximum size in GiB of all recordings of a node; at it, or with less than 1 GiB free on the disk, recording stops until there is room again',
  }),
  objectStorage: {
    endpoint: setting('STRAND_S3_ENDPOINT', url('http', 'https'), {
      meaning:
        'URL of the S3-compatible server to which recordings are uploaded when their streams have ended; without it they stay in the data folder',
    }),
    bucket: setting(
      'STRAND_S3_BUCKET',
      textLike('the name of a bucket', /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}$/),
      {
        meaning: 'bucket for recordings, which nothing else may use',
      },
    ),
    region: setting('STRAND_S3_REGION', textLike('the name of a region', /^[A-Za-z0-9-]+$/), {
      default: 'us-east-1',
      meaning: 'region of the bucket',
    }),
    accessKeyId: setting('STRAND_S3_ACCESS_KEY_ID', VISIBLE, {
      meaning: 'access key that may read, write and delete objects of the bucket',
    }),
    secretAccessKey: setting('STRAND_S3_SECRET_ACCESS_KEY', VISIBLE, {
      secret: true,
      meaning: 'secret of the access key',
    }),
    publicUrl: setting('STRAND_S3_PUBLIC_URL', url('http', 'https'), {
      defaultInWords: 'viewers get URLs of the bucket that are signed for an hour',
      meaning: 'URL at which everyone can read the objects of the bucket, such as that of a CDN',
    }),
  },
  mediaMemoryMebibytes: setting('STRAND_MEDIA_MEMORY_MIB', wholeNumber(64), {
    default: '1024',
    meaning: 'memory in MiB for the broadcasts of the embedded media server; beyond it their windows shrink',
  }),
  thumbnails: setting('STRAND_MEDIA_THUMBNAILS', choice({ on: true, off: false }), {
    default: text => (text('STRAND_RTMP_LISTEN') === '' ? 'off' : 'on'),
    defaultInWords: 'on with the embedded media server',
    meaning:
      'whether live channels and recorded videos show a picture of the broadcast, for which the embedded media server runs ffmpeg',
  }),
  reconnectGraceSeconds: setting('STRAND_RECONNECT_GRACE', wholeNumber(0, 3600), {
    default: '60',
    meaning: 'seconds for which a stream stays live without a publisher, so that an encoder can reconnect',
  }),
  publicUrl: setting('STRAND_PUBLIC_URL', url('http', 'https'), {
    meaning: 'base URL that clients use; links to thumbnails and videos start with it',
  }),
  mediaUrl: setting('STRAND_MEDIA_URL', url('http', 'https'), {
    meaning:
      'base URL at which viewers reach this node and no other; other nodes redirect to its broadcasts and recordings',
  }),
  trustedProxies: setting('STRAND_TRUSTED_PROXIES', NETWORKS, {
    default: '',
    meaning:
      'proxies whose X-Forwarded-For header is trusted; limits for one address do not apply to encoders that publish through them',
  }),
  workers: setting('STRAND_WORKERS', wholeNumber(1, 256), {
    default: '1',
    meaning: 'processes that share the port and a store on PostgreSQL (Linux)',
  }),
  drainSeconds: setting('STRAND_DRAIN_SECONDS', wholeNumber(0, 3600), {
    default: '0',
    meaning:
      'seconds that a stopping server keeps serving while /readyz returns 503, for a proxy with other nodes',
  }),
  eventCallbacks: setting('STRAND_EVENT_CALLBACKS', choice({ public: 'public', any: 'any' } as const), {
    default: 'public',
    meaning:
      'callbacks that webhooks may have: "public" allows https on port 443 of public addresses; "any" also http, other ports, and private addresses',
  }),
  eventSockets: setting('STRAND_EVENT_SOCKETS', wholeNumber(0), {
    default: '20000',
    meaning: 'maximum WebSockets for events of each process',
  }),
  eventRetries: setting('STRAND_EVENT_RETRIES', RETRY_SECONDS, {
    default: '10,60,300,1800,7200,21600',
    meaning:
      'seconds to wait before each retry of a webhook, with jitter; after the last one the subscription ends',
  }),
  eventAuthority: setting('STRAND_EVENT_CA', FILE, {
    meaning:
      'file with certificate authorities in PEM that are trusted for callbacks, besides the well-known ones',
  }),
  strict: setting('STRAND_STRICT', SWITCH, {
    default: '0',
    meaning:
      'whether to refuse what the real API refuses, to find mistakes of a program; see docs/compatibility.md',
  }),
  signUp: setting('STRAND_SIGN_UP', choice({ open: true, closed: false }), {
    default: 'closed',
    meaning: 'whether people can create accounts themselves',
  }),
  signUpsPerDay: setting('STRAND_SIGN_UPS_PER_DAY', wholeNumber(0), {
    default: '50',
    meaning: 'sign-ups per network and day, 0 for no limit',
  }),
  dataFolder: setting('STRAND_DATA', FOLDER, {
    default: './data',
    meaning: 'folder of the embedded store, the operator token and the master keys',
  }),
  databaseUrl: setting('DATABASE_URL', url('postgres', 'postgresql'), {
    meaning:
      'PostgreSQL to use instead of the embedded store; of several hosts, separated by commas, the primary is used',
  }),
  spoolFolder: setting('STRAND_SPOOL', FOLDER, {
    default: text => (text('DATABASE_URL') === '' ? text('STRAND_DATA') : tmpdir()),
    defaultInWords: 'the data folder; with PostgreSQL, the temporary folder of the system',
    meaning: 'folder with space for a whole export or import while it runs',
  }),
  databaseConnections: setting('STRAND_DATABASE_CONNECTIONS', wholeNumber(2, 1000), {
    default: '10',
    meaning: 'size of the PostgreSQL connection pool',
  }),
  databasePooled: setting('STRAND_DATABASE_POOLER', choice({ none: false, transaction: true }), {
    default: 'none',
    meaning: 'pooling mode of PgBouncer or another pooler in front of PostgreSQL',
  }),
  migrate: setting('STRAND_MIGRATE', choice({ auto: true, off: false }), {
    default: 'auto',
    meaning: 'whether opening a store migrates its schema; with off, only strand migrate does',
  }),
  storeWaitSeconds: setting('STRAND_STORE_WAIT_SECONDS', wholeNumber(0, 86_400), {
    default: '0',
    meaning: 'seconds that strand serve waits for a writable PostgreSQL before it gives up',
  }),
  operatorToken: setting('STRAND_OPERATOR_TOKEN', OPERATOR_TOKEN, {
    secret: true,
    defaultInWords: 'the file operator-token in the data folder',
    meaning: 'operator token',
  }),
  masterKeys: setting('STRAND_MASTER_KEYS', MASTER_KEYS, {
    secret: true,
    defaultInWords: 'the file master-keys in the data folder',
    meaning: 'master keys, newest first',
  }),
  lostMasterKeys: setting('STRAND_LOST_MASTER_KEYS', IDS, {
    default: '',
    meaning: 'ids of lost master keys; stream keys sealed with them cannot be read and have to be rotated',
  }),
  backupPassphrase: setting('STRAND_BACKUP_PASSPHRASE', PASSPHRASE, {
    secret: true,
    meaning:
      'passphrase of the secrets in backups, for strand backup, verify and restore; --passphrase-file takes precedence',
  }),
  rateLimits: {
    app: setting('STRAND_RATE_APP', RATE, {
      default: '800',
      meaning: 'points per minute and client for app tokens, 0 for no limit',
    }),
    user: setting('STRAND_RATE_USER', RATE, {
      default: '800',
      meaning: 'points per minute, client and user for user tokens, 0 for no limit',
    }),
    anonymous: setting('STRAND_RATE_ANONYMOUS', RATE, {
      default: '800',
      meaning: 'points per minute and address without a token, 0 for no limit',
    }),
  },
  oauthRates: {
    address: setting('STRAND_RATE_OAUTH_ADDRESS', RATE, {
      default: '1200',
      meaning: 'requests per minute and address to /oauth2 and the pages, in each process, 0 for no limit',
    }),
    client: setting('STRAND_RATE_OAUTH_CLIENT', RATE, {
      default: '6000',
      meaning: 'requests per minute and client to /oauth2, in each process, 0 for no limit',
    }),
    validation: setting('STRAND_RATE_OAUTH_VALIDATE', RATE, {
      default: '60000',
      meaning: 'validations of valid tokens per minute and client, in each process, 0 for no limit',
    }),
  },
  lifetimes: {
    app_seconds: setting('STRAND_APP_TOKEN_SECONDS', SECONDS, {
      default: '5184000',
      meaning: 'lifetime of app tokens',
    }),
    user_seconds: setting('STRAND_USER_TOKEN_SECONDS', SECONDS, {
      default: '14400',
      meaning: 'lifetime of user tokens',
    }),
    refresh_seconds: setting('STRAND_REFRESH_TOKEN_SECONDS', SECONDS, {
      default: '2592000',
      meaning: 'lifetime of refresh tokens of public clients',
    }),
    code_seconds: setting('STRAND_CODE_SECONDS', SECONDS, {
      default: '60',
      meaning: 'lifetime of authorization codes',
    }),
    device_code_seconds: setting('STRAND_DEVICE_CODE_SECONDS', SECONDS, {
      default: '1800',
      meaning: 'lifetime of device codes',
    }),
    session_seconds: setting('STRAND_SESSION_SECONDS', SECONDS, {
      default: '2592000',
      meaning: 'how long a browser stays logged in after its last request',
    }),
  },
  keep: {
    videosDays: setting('STRAND_KEEP_VIDEOS_DAYS', DAYS, {
      default: '0',
      meaning: 'days to keep a video and its markers after the stream ended, 0 to keep them forever',
    }),
    progressDays: setting('STRAND_KEEP_PROGRESS_DAYS', DAYS, {
      default: '30',
      meaning:
        'days to keep the minutes of viewers after the drops of a campaign can no longer be claimed, 0 to keep them forever',
    }),
    tokensDays: setting('STRAND_KEEP_TOKENS_DAYS', DAYS, {
      default: '0',
      meaning: 'days to keep the record of a token after it expired, for investigations',
    }),
    eventsDays: setting('STRAND_KEEP_EVENTS_DAYS', DAYS, {
      default: '30',
      meaning:
        'days to keep events with their deliveries, and subscriptions after they ended, 0 to keep them forever',
    }),
    auditDays: setting('STRAND_KEEP_AUDIT_DAYS', DAYS, {
      default: '0',
      meaning: 'days to keep rows of the audit log, 0 to keep them forever',
    }),
  },
  importBytes: setting('STRAND_IMPORT_MIB', wholeNumber(1, undefined, 1024 ** 2), {
    default: '16384',
    meaning: 'largest body of POST /control/import, in MiB',
  }),
  earningPerNetwork: setting('STRAND_EARNING_PER_NETWORK', wholeNumber(1), {
    default: '100',
    meaning: 'viewers of one network who earn drops at a time on a node',
  }),
  sweepSeconds: setting('STRAND_SWEEP_SECONDS', SECONDS, {
    default: '60',
    meaning: 'seconds between deletions of expired rows',
  }),
  clockSettlingHours: setting('STRAND_CLOCK_SETTLING_HOURS', wholeNumber(0), {
    default: '24',
    meaning:
      'hours that the clock must run steadily after a jump forward before it is used to delete rows, 0 for none',
  }),
  url: setting('STRAND_URL', url('http', 'https'), {
    meaning:
      'for commands that manage the installation: URL of the operator listener of the server to use instead of a store',
  }),
  profile: setting('STRAND_PROFILE', textLike('the name of a profile', /^\S+$/), {
    meaning: 'for the same commands: profile of strand login to use',
  }),
  logLevel: setting('STRAND_LOG', choice(LEVELS, 'level'), { default: 'info', meaning: 'log level' }),
  logReadable: setting('STRAND_LOG_FORMAT', choice({ json: false, readable: true }), {
    default: () => (process.stderr.isTTY ? 'readable' : 'json'),
    defaultInWords: 'readable on a terminal, json elsewhere',
    meaning: 'log format',
  }),
  accessLog: setting('STRAND_ACCESS_LOG', choice({ on: true, off: false }), {
    default: 'off',
    meaning: 'whether each request is logged at level info',
  }),
}

type ValueOf<Row> = Row extends Setting<infer T> ? T : { readonly [Key in keyof Row]: ValueOf<Row[Key]> }

/** The value of every setting. */
export type Config = ValueOf<typeof SETTINGS>

/** The rows of the table in order, without the groups. */
export const settings = listSettings(SETTINGS)

function listSettings(table: object): Setting[] {
  return Object.values(table).flatMap((row: object) => (isSetting(row) ? [row] : listSettings(row)))
}

/** The configuration, with the value of each row from `read`. */
export function mapSettings(read: (setting: Setting) => unknown, table: object = SETTINGS): Config {
  const entries = Object.entries(table).map(([key, row]) => [
    key,
    isSetting(row) ? read(row) : mapSettings(read, row),
  ])
  return Object.fromEntries(entries) as Config
}

function isSetting(row: object): row is Setting {
  return 'kind' in row
}

/** The default as text for help; undefined if there is none. */
export function describeDefault({ default: standard, defaultInWords }: Setting): string | undefined {
  return defaultInWords ?? (typeof standard === 'string' && standard !== '' ? standard : undefined)
}

/** Meaning, choices and default for help. */
export function describeSetting(row: Setting): string {
  const choices = row.kind.choices === undefined ? '' : `: ${row.kind.choices.join(', ')}`
  const standard = describeDefault(row)
  return `${row.meaning}${choices}${standard === undefined ? '' : `; default: ${standard}`}`
}

/** The name of the flag for a setting, such as `--data`. Not every setting has one. */
export function formatFlag(name: string): string {
  return `--${name
    .replace(/^STRAND_/, '')
    .toLowerCase()
    .replaceAll('_', '-')}`
}

/** The value without secrets and passwords. */
export function shownValue({ secret }: Setting, value: string): string {
  if (secret) return '(set, not shown)'
  return value.replace(/(:\/\/[^:@/]*):[^@]*@/, '$1:***@').replace(/(password=)[^&]*/i, '$1***')
}

function setting<T>(name: string, kind: Kind<T>, details: Details & { default: Default }): Setting<T>
function setting<T>(name: string, kind: Kind<T>, details: Details): Setting<T | undefined>
function setting<T>(name: string, kind: Kind<T>, details: Details): Setting<T | undefined> {
  return { name, kind, ...details }
}

/** At most nine digits: a larger number is a typing error. The value is multiplied by `unit`. */
function wholeNumber(min: number, max = 999_999_999, unit = 1): Kind<number> {
  return {
    form: `a whole number between ${min} and ${max}`,
    sample: 'number',
    parse: text => {
      const number = /^[0-9]{1,9}$/.test(text) ? Number(text) : -1
      return number >= min && number <= max ? number * unit : undefined
    },
  }
}

function choice<T>(values: Readonly<Record<string, T>>, sample = 'choice'): Kind<T> {
  return {
    form: `one of ${Object.keys(values).join(', ')}`,
    sample,
    choices: Object.keys(values),
    parse: text => (Object.hasOwn(values, text) ? values[text] : undefined),
  }
}

function url(...schemes: readonly string[]): Kind<string> {
  const isUrl = (text: string) => URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1))
  return {
    form: `${schemes[0] === 'http' ? 'an' : 'a'} ${schemes.join(' or ')} URL`,
    sample: 'url',
    mayHoldPassword: true,
    parse: text => (hostUrls(text).every(isUrl) ? text.replace(/\/+$/, '') : undefined),
  }
}

function textLike(form: string, pattern: RegExp): Kind<string> {
  return { form, sample: 'text', parse: text => (pattern.test(text) ? text : undefined) }
}

function listed(text: string): string[] {
  return text === '' ? [] : text.split(',').map(each => each.trim())
}
