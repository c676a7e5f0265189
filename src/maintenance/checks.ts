/** The checks of `strand doctor`, as pure functions from observations to findings, so that tests need not cause real faults. */
import type { Address, Config } from '../config/config.ts'
import { isLoopback } from '../config/config.ts'
import type { SchemaState } from '../store/embedded-file.ts'
import type { PostgresState } from '../store/postgres-server.ts'
import { type Finding, failure, note, ok, warning } from './finding.ts'

const MEGABYTE = 1e6
const LITTLE_SPACE = 1000 * MEGABYTE
const NO_SPACE = 100 * MEGABYTE
const LARGE_LOG = 256 * MEGABYTE
const FEW_FILES = 4096
const LITTLE_MEMORY = 400 * MEGABYTE
const SLOW_SYNC_MILLISECONDS = 25
const CLOCK_SECONDS = 5
const CLOCK_FAR_OFF_SECONDS = 60
const OLDEST_POSTGRES = 14

export interface ObservedFile {
  readonly name: string
  readonly mode: number
  readonly owner: number
}

/** Only the owner may read the folder and its files, and all have the same owner. */
export function checkModes(folder: ObservedFile, files: readonly ObservedFile[]): Finding[] {
  const findings: Finding[] = []
  if ((folder.mode & 0o077) !== 0) {
    findings.push(warning('files', `other users can read ${folder.name}`, `chmod 700 ${folder.name}`))
  }
  for (const { name, mode } of files.filter(file => (file.mode & 0o077) !== 0)) {
    const octal = (mode & 0o777).toString(8).padStart(4, '0')
    findings.push(failure('files', `${name} has mode ${octal}: other users can read it`, `chmod 600 ${name}`))
  }
  for (const { name } of files.filter(file => file.owner !== folder.owner)) {
    const message = `${name} and ${folder.name} have different owners`
    findings.push(warning('files', message, 'chown it to the user that the server runs as'))
  }
  return findings.length > 0
    ? findings
    : [ok('files', 'only the owner can read the data folder and its files')]
}

/** Temporary files in the data folder, and files that a restore replaced. */
export function checkLeftovers(folder: string, names: readonly string[]): Finding[] {
  const unfinished = names.filter(name =>
    /^\.restoring$|\.unfinished-\d+|^master-keys\.(changing|\d+)$|^operator-token\.\d+$/.test(name),
  )
  const replaced = names.filter(name => name.startsWith('before-restore-'))
  const left = (name: string) => `${folder}/${name} was left by an interrupted command`
  const kept = (name: string) => `${folder}/${name} contains files that a restore replaced`
  return [
    ...unfinished.map(name => warning('leftovers', left(name), 'delete it if nothing uses it')),
    ...replaced.map(name => note('leftovers', kept(name), 'delete it when you no longer need it')),
  ]
}

export function checkSpace(folder: string, free: number, total: number): Finding {
  const message = `${Math.floor(free / MEGABYTE).toLocaleString('en-US')} MB free on the disk of ${folder}`
  if (free < NO_SPACE)
    return failure('disk space', message, 'free space now: writes get 503 when the disk is full')
  if (free < LITTLE_SPACE || free < total / 20)
    return warning('disk space', message, 'free space, or enlarge the disk')
  return ok('disk space', message)
}

export function checkSync(milliseconds: number): Finding {
  const message = `the disk takes ${milliseconds.toFixed(1)} ms to make a write durable`
  return milliseconds > SLOW_SYNC_MILLISECONDS
    ? warning('disk speed', message, 'every write waits for this: put the data folder on a faster disk')
    : ok('disk speed', message)
}

export interface ObservedStore {
  /** Undefined: not checked. */
  readonly violations: readonly string[] | undefined
  readonly schema: SchemaState | undefined
  readonly logBytes: number
}

export function checkStore({ violations, schema, logBytes }: ObservedStore): Finding[] {
  const [violation] = violations ?? []
  if (violation !== undefined) {
    const advice = 'stop the server and restore a backup: strand restore'
    return [failure('store', `the store is damaged: ${violation}`, advice)]
  }
  const integrity = violations === undefined ? '' : ' and its pages are intact'
  const findings = [ok('store', `the store can be read${integrity}`)]
  if (schema !== undefined) findings.push(checkSchema(schema))
  if (logBytes > LARGE_LOG) {
    const message = `the write-ahead log has grown to ${Math.floor(logBytes / MEGABYTE)} MB`
    findings.push(
      warning(
        'store',
        message,
        'a long-running reader blocks its checkpoint, or the server was killed: restart the server',
      ),
    )
  }
  return findings
}

/** A release may reserve a login that a user has: the channel then has no page (D-128). */
export const checkReservedLogins = (logins: readonly string[]): Finding[] =>
  logins.map(login =>
    warning(
      'users',
      `the login "${login}" is reserved: the server uses this path, and the channel of the user has no page`,
      `rename the user: strand user set ${login} --login NEW_LOGIN`,
    ),
  )

export function checkSchema({ version, known, verdict, edited }: SchemaState): Finding {
  switch (verdict) {
    case 'edited':
      return failure(
        'schema',
        `migration ${edited} was applied to the store with another text than in this version of Strand`,
        'use the version of Strand that applied it, or restore a backup from before it',
      )
    case 'newer':
      return failure(
        'schema',
        `the store has schema ${version}, but this version of Strand supports up to ${known}`,
        'use a newer version of Strand',
      )
    case 'compatible':
      return note(
        'schema',
        `the store has schema ${version}, which is newer than schema ${known} of this version of Strand and compatible with it`,
        'finish the upgrade when you can',
      )
    case 'behind':
      return note(
        'schema',
        `the store has schema ${version}; this version of Strand migrates it to ${known}`,
        'run strand migrate, or start the server',
      )
    case 'current':
      return ok('schema', `the store has schema ${version}, which is current`)
  }
}

/** `ring` has the ids of the master keys, newest first. */
export function checkKeyRing(ring: readonly string[], sealedBy: ReadonlyMap<string, number>): Finding[] {
  const missing = [...sealedBy].filter(([id]) => !ring.includes(id))
  if (missing.length > 0) {
    return missing.map(([id, count]) =>
      failure(
        'key ring',
        `${count} stream ${count === 1 ? 'key is' : 'keys are'} sealed with the master key ${id}, which is not in the ring`,
        'restore that key from a backup: without it the stream keys cannot be read',
      ),
    )
  }
  const older = [...sealedBy].filter(([id]) => id !== ring[0]).reduce((sum, [, count]) => sum + count, 0)
  if (older > 0) {
    const message = `${older} stream ${older === 1 ? 'key is' : 'keys are'} sealed with an older master key`
    return [note('key ring', message, 'run strand key-ring reseal')]
  }
  return [ok('key ring', `the ring contains all required master keys; it seals with ${ring[0] ?? 'none'}`)]
}

type Listening = Pick<Config, 'listen' | 'operatorListen' | 'publicUrl'>

export function checkListeners({ listen, operatorListen, publicUrl }: Listening): Finding[] {
  const shown = ({ host, port }: { host: string; port: number }) => `${host}:${port}`
  if (operatorListen !== undefined && !isLoopback(operatorListen.host)) {
    return [
      warning(
        'listeners',
        `the operator listener is on ${shown(operatorListen)}, which other machines may reach`,
        'move it to localhost or to a network for operators only: only the token protects it',
      ),
    ]
  }
  if (operatorListen === undefined && publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname)) {
    return [
      warning(
        'listeners',
        `clients use ${publicUrl}, and the control API is on the same listener`,
        'set STRAND_OPERATOR_LISTEN, so that the proxy does not expose it',
      ),
    ]
  }
  const operator = shown(operatorListen ?? listen)
  return [ok('listeners', `the public API is on ${shown(listen)}, the control API on ${operator}`)]
}

/** Strict mode is for testing a program: people who call the API by hand wonder about its answers. */
export function checkStrict({ strict }: Pick<Config, 'strict'>): Finding[] {
  if (!strict) return []
  return [
    note(
      'strict mode',
      'strict mode is on: requests that the real API would refuse are refused',
      'set STRAND_STRICT=0 for a server that is not only for tests',
    ),
  ]
}

export type ObservedListener = 'free' | 'strand' | 'other' | { readonly failure: string }

/** Whether a server can listen on the address of a setting, or already does. */
export function checkPort(setting: string, { host, port }: Address, seen: ObservedListener): Finding {
  const address = `${host}:${port}`
  if (seen === 'free') return ok('listeners', `${address} is free`)
  if (seen === 'strand') return ok('listeners', `a Strand server is listening on ${address}`)
  return seen === 'other'
    ? failure(
        'listeners',
        `port ${port} is in use: another program is listening on ${address}`,
        `stop that program, or choose another port with ${setting}`,
      )
    : failure(
        'listeners',
        `cannot listen on ${address}: ${seen.failure}`,
        `choose another address with ${setting}, or run as a user who may use it`,
      )
}

export function checkPublicUrl({ listen, publicUrl }: Listening): Finding {
  if (publicUrl === undefined) {
    return isLoopback(listen.host)
      ? ok('public URL', 'not set, and not needed on loopback')
      : warning(
          'public URL',
          'not set, so links in responses contain the address of the listener',
          'set STRAND_PUBLIC_URL to the URL that clients use',
        )
  }
  const { protocol, hostname, search, hash } = new URL(publicUrl)
  if (search !== '' || hash !== '') {
    return failure(
      'public URL',
      `${publicUrl} has a query or a fragment`,
      'set STRAND_PUBLIC_URL to the base URL only',
    )
  }
  return protocol === 'http:' && !isLoopback(hostname.replace(/[[\]]/g, ''))
    ? warning('public URL', `${publicUrl} is not https: tokens are sent unencrypted`, 'use a proxy with TLS')
    : ok('public URL', `clients use ${publicUrl}`)
}

/**
 * Strand speaks no TLS, so an https URL means a proxy. One that is not named makes all visitors one address.
 * `unnamed`: a proxy that the server has had requests from.
 */
export function checkProxies(
  { publicUrl, trustedProxies }: Pick<Config, 'publicUrl' | 'trustedProxies'>,
  unnamed?: string,
): Finding[] {
  const advice =
    'set STRAND_TRUSTED_PROXIES to the address of the proxy; until then all visitors share the limits of one address'
  if (unnamed !== undefined)
    return [
      warning('proxies', `requests with X-Forwarded-For come from ${unnamed}, which is not named`, advice),
    ]
  if (!publicUrl?.startsWith('https:')) return []
  return trustedProxies.isEmpty
    ? [warning('proxies', `clients use ${publicUrl}, and no proxy is named`, advice)]
    : [ok('proxies', 'the addresses of visitors come from the proxies that are named')]
}

/** `ahead`: seconds by which the local clock is ahead of the other. */
export function checkClock(other: string, ahead: number): Finding {
  const seconds = Math.abs(ahead)
  const message = `the local clock is ${seconds.toFixed(1)} s ${ahead < 0 ? 'behind' : 'ahead of'} ${other}`
  if (seconds > CLOCK_FAR_OFF_SECONDS)
    return failure('clock', message, 'set the clock, and keep it synchronized with NTP')
  if (seconds > CLOCK_SECONDS) return warning('clock', message, 'synchronize both clocks with NTP')
  return ok('clock', `the local clock agrees with ${other}`)
}

/** What `checkMediaServer` of `ingest` found. */
export function checkMediaServerState(
  { name, adapter }: { readonly name: string; readonly adapter: string },
  { problems }: { readonly problems: readonly string[] },
): Finding {
  const about = `media server ${name}`
  if (problems.length === 0) return ok(about, `nothing is wrong with this ${adapter} server`)
  return failure(about, problems.join('; '), 'correct this, and run strand media check for details')
}

/** Names with a stream key mean that viewers can read it. */
/** How a probe of the bucket ended: what failed at which step, or what the server answered to a page of this site. */
export type ObservedBucket =
  | { readonly failedTo: 'write' | 'read' | 'delete'; readonly failure: string }
  | { readonly allowedOrigin: string | null; readonly hasRange: boolean }

export function checkObjectStorage(
  { endpoint, bucket }: { readonly endpoint: string; readonly bucket: string },
  seen: ObservedBucket,
): Finding {
  const name = `the bucket ${bucket} at ${endpoint}`
  if ('failedTo' in seen)
    return failure(
      'object storage',
      `cannot ${seen.failedTo} an object of ${name}: ${seen.failure}`,
      'check STRAND_S3_ENDPOINT and the settings next to it, and that the key may put, get and delete objects',
    )
  if (!seen.hasRange)
    return failure(
      'object storage',
      `${name} does not answer ranges`,
      'use a server that does: players read recordings by ranges',
    )
  // The page may come from another node, and the origin is `null` after a redirect between two others.
  if (seen.allowedOrigin !== '*')
    return failure(
      'object storage',
      `${name} does not let pages of every origin read (Access-Control-Allow-Origin: ${seen.allowedOrigin ?? 'none'})`,
      'set the CORS rule of docs/object-storage.md',
    )
  return ok('object storage', `${name} can be written, read by pages, and deleted`)
}

export function checkHlsFolder(folder: string, found: readonly string[]): Finding {
  if (found.length === 0) return ok('stream keys', `no name in ${folder} contains a stream key`)
  return failure(
    'stream keys',
    `stream keys are in ${found.length} of the names below ${folder}, and viewers can read them`,
    'rotate these keys, and use the configuration of strand media add, which publishes under the login',
  )
}

export function checkLimits(openFiles: number | undefined, memory: number): Finding[] {
  const findings: Finding[] = []
  if (openFiles !== undefined && openFiles < FEW_FILES) {
    const message = `a process may open only ${openFiles} files, and every connection uses one`
    findings.push(
      warning('limits', message, 'raise the limit: LimitNOFILE=65536 for systemd, or ulimit -n 65536'),
    )
  }
  if (memory < LITTLE_MEMORY) {
    const message = `only ${Math.floor(memory / MEGABYTE)} MB of memory are available`
    findings.push(warning('limits', message, 'provide at least 512 MB'))
  }
  return findings.length > 0 ? findings : [ok('limits', 'the limits of open files and memory are sufficient')]
}

/** `connections`: of all processes of this node together; `servers`: the number of servers in DATABASE_URL. */
export function checkPostgres(
  host: string,
  state: PostgresState,
  connections: number,
  servers = 1,
): Finding[] {
  const about = `PostgreSQL at ${host}`
  const { isPrimary, standbysWanted, standbysConnected, standbysInStep, seesReplication, synchronousCommit } =
    state
  const usable = state.maxConnections - state.reservedConnections
  const nodes = Math.floor(usable / connections)
  const isAsynchronous = isPrimary && standbysWanted === ''
  const isSynchronous = isPrimary && standbysWanted !== ''
  const checks: readonly (readonly [boolean, typeof warning, message: string, advice: string])[] = [
    [
      Number.parseInt(state.version, 10) < OLDEST_POSTGRES,
      warning,
      `version ${state.version} is no longer supported`,
      'upgrade PostgreSQL',
    ],
    [
      state.fsync !== 'on',
      failure,
      'fsync is off: a power failure can destroy the database',
      'set fsync = on in postgresql.conf',
    ],
    [
      synchronousCommit === 'off',
      failure,
      'synchronous_commit is off: acknowledged writes can be lost',
      'set synchronous_commit = on',
    ],
    [
      isAsynchronous && standbysConnected > 0,
      warning,
      `${standbysConnected} ${standbysConnected === 1 ? 'standby follows' : 'standbys follow'} asynchronously: a failover can lose acknowledged writes`,
      'set synchronous_standby_names, as described in docs/several-nodes.md',
    ],
    [
      isAsynchronous && standbysConnected === 0 && servers > 1,
      warning,
      'DATABASE_URL names several servers, but no standby follows the primary',
      'start replication, as described in docs/several-nodes.md',
    ],
    [
      isSynchronous && (synchronousCommit === 'local' || synchronousCommit === 'remote_write'),
      failure,
      `synchronous_standby_names is set, but synchronous_commit is ${synchronousCommit}: commits do not wait until a standby has them on disk`,
      'set synchronous_commit = on',
    ],
    [
      isSynchronous && !seesReplication,
      warning,
      'commits wait for a synchronous standby, but whether there is one is unknown: the role may not read the state of replication',
      'run GRANT pg_monitor TO the role of DATABASE_URL, and strand doctor again',
    ],
    [
      isSynchronous && seesReplication && standbysInStep === 0,
      failure,
      'commits wait for a synchronous standby, but there is none: writes get 503',
      'bring a standby back',
    ],
    [
      nodes < 2,
      warning,
      `a node like this one takes up to ${connections} connections, but max_connections allows only ${usable}: too few for a second node, or for a rolling restart`,
      'raise max_connections, lower STRAND_DATABASE_CONNECTIONS or STRAND_WORKERS, or use PgBouncer',
    ],
  ]
  const findings = checks.filter(([applies]) => applies)
  if (findings.length > 0)
    return findings.map(([, finding, message, advice]) => finding(about, message, advice))
  const standbys = `${standbysInStep || 'no'} synchronous ${standbysInStep > 1 ? 'standbys' : 'standby'}`
  const role = isPrimary ? `the primary, with ${standbys}` : 'a standby'
  return [ok(about, `version ${state.version}, ${role}; max_connections allows ${nodes} nodes like this one`)]
}
