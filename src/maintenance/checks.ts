/**
 * What the doctor thinks of what it saw. Pure: each takes what was observed and gives findings, so that every one of them
 * can be shown a fault without making it.
 */
import type { Address, Config } from '../config.ts'
import { isLoopback } from '../config.ts'
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

/** The folder and what is in it: nobody else may read, and one owner has all of it. */
export function checkModes(folder: ObservedFile, files: readonly ObservedFile[]): Finding[] {
  const findings: Finding[] = []
  if ((folder.mode & 0o077) !== 0) {
    findings.push(warning('files', `others may look into ${folder.name}`, `chmod 700 ${folder.name}`))
  }
  for (const { name, mode } of files.filter(file => (file.mode & 0o077) !== 0)) {
    const octal = (mode & 0o777).toString(8).padStart(4, '0')
    findings.push(failure('files', `${name} has mode ${octal}: others may read it`, `chmod 600 ${name}`))
  }
  for (const { name } of files.filter(file => file.owner !== folder.owner)) {
    const says = `${name} belongs to another user than ${folder.name}`
    findings.push(warning('files', says, 'chown it to the user that the server runs as'))
  }
  return findings.length > 0
    ? findings
    : [ok('files', 'only the owner may read the data folder and its files')]
}

/** Names in the data folder that are there only while something is done. */
export function checkLeftovers(folder: string, names: readonly string[]): Finding[] {
  const unfinished = names.filter(name =>
    /^\.restoring$|\.unfinished-\d+|^master-keys\.(changing|\d+)$|^operator-token\.\d+$/.test(name),
  )
  const replaced = names.filter(name => name.startsWith('before-restore-'))
  const left = (name: string) => `${folder}/${name} was left by something interrupted`
  const kept = (name: string) => `${folder}/${name} holds what a restore replaced`
  return [
    ...unfinished.map(name => warning('leftovers', left(name), 'delete it if nothing uses it')),
    ...replaced.map(name => note('leftovers', kept(name), 'delete it when you no longer need it')),
  ]
}

export function checkSpace(folder: string, free: number, total: number): Finding {
  const says = `${Math.floor(free / MEGABYTE).toLocaleString('en-US')} MB are free on the disk of ${folder}`
  if (free < NO_SPACE)
    return failure('disk space', says, 'free some at once: when it is full, writes are answered 503')
  if (free < LITTLE_SPACE || free < total / 20)
    return warning('disk space', says, 'free some, or give it a larger disk')
  return ok('disk space', says)
}

export function checkSync(milliseconds: number): Finding {
  const says = `the disk makes a write durable in ${milliseconds.toFixed(1)} ms`
  return milliseconds > SLOW_SYNC_MILLISECONDS
    ? warning('disk speed', says, 'every write waits so long: put the data folder on a faster disk')
    : ok('disk speed', says)
}

export interface ObservedStore {
  readonly violations: readonly string[]
  readonly schema: SchemaState | undefined
  readonly logBytes: number
}

export function checkStore({ violations, schema, logBytes }: ObservedStore): Finding[] {
  const [violation] = violations
  if (violation !== undefined) {
    const advice = 'stop the server and restore a backup: strand restore'
    return [failure('store', `the store is damaged: ${violation}`, advice)]
  }
  const findings = [ok('store', 'the store can be read and its pages are whole')]
  if (schema !== undefined) findings.push(checkSchema(schema))
  if (logBytes > LARGE_LOG) {
    const says = `the write-ahead log has grown to ${Math.floor(logBytes / MEGABYTE)} MB`
    findings.push(warning('store', says, 'something reads without end, or the server was killed: restart it'))
  }
  return findings
}

export function checkSchema({ version, known, verdict, edited }: SchemaState): Finding {
  switch (verdict) {
    case 'edited':
      return failure(
        'schema',
        `migration ${edited} was applied to the store with another text than it has in this program`,
        'use the version of Strand that applied it, or restore a backup from before it',
      )
    case 'newer':
      return failure(
        'schema',
        `the store has schema ${version} and this program knows ${known}`,
        'use a newer version of Strand',
      )
    case 'compatible':
      return note(
        'schema',
        `the store has schema ${version}, newer than schema ${known} of this program and compatible with it`,
        'finish the upgrade, or stay on this version for as long as you have to',
      )
    case 'behind':
      return note(
        'schema',
        `the store has schema ${version}, this program makes it ${known}`,
        'run strand migrate, or start the server',
      )
    case 'current':
      return ok('schema', `the store has schema ${version}, as this program`)
  }
}

/** `ring` is newest first. */
export function checkKeyRing(ring: readonly string[], sealedBy: ReadonlyMap<string, number>): Finding[] {
  const missing = [...sealedBy].filter(([id]) => !ring.includes(id))
  if (missing.length > 0) {
    return missing.map(([id, count]) =>
      failure(
        'key ring',
        `${count} stream ${count === 1 ? 'key is' : 'keys are'} sealed with the master key ${id}, which is not in the ring`,
        'put it back from a backup: without it they cannot be read',
      ),
    )
  }
  const older = [...sealedBy].filter(([id]) => id !== ring[0]).reduce((sum, [, count]) => sum + count, 0)
  if (older > 0) {
    const says = `${older} stream ${older === 1 ? 'key is' : 'keys are'} sealed with an older master key`
    return [note('key ring', says, 'run strand key-ring reseal')]
  }
  return [
    ok('key ring', `all master keys that are needed are in the ring; it seals with ${ring[0] ?? 'none'}`),
  ]
}

type Listening = Pick<Config, 'listen' | 'operatorListen' | 'publicUrl'>

export function checkListeners({ listen, operatorListen, publicUrl }: Listening): Finding[] {
  const shown = ({ host, port }: { host: string; port: number }) => `${host}:${port}`
  if (operatorListen !== undefined && !isLoopback(operatorListen.host)) {
    return [
      warning(
        'listeners',
        `the operator's side listens on ${shown(operatorListen)}, which others can reach`,
        'put it on localhost or on a network that only operators are in; the token alone guards it',
      ),
    ]
  }
  if (operatorListen === undefined && publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname)) {
    return [
      warning(
        'listeners',
        `clients come by ${publicUrl} and the operator's side is on the same listener`,
        'set STRAND_OPERATOR_LISTEN, so that the proxy in front does not publish it',
      ),
    ]
  }
  const operatorSide = shown(operatorListen ?? listen)
  return [ok('listeners', `the API is on ${shown(listen)}, the operator's side on ${operatorSide}`)]
}

export type ObservedListener = 'free' | 'strand' | 'other' | { readonly failure: string }

/** Whether a server can listen at the address of a setting, or does already. */
export function checkPort(setting: string, { host, port }: Address, seen: ObservedListener): Finding {
  const address = `${host}:${port}`
  if (seen === 'free') return ok('listeners', `${address} is free`)
  if (seen === 'strand') return ok('listeners', `a Strand answers at ${address}`)
  return seen === 'other'
    ? failure(
        'listeners',
        `port ${port} is taken: another program listens at ${address}`,
        `stop that program, or choose another port with ${setting}`,
      )
    : failure(
        'listeners',
        `nothing can listen at ${address}: ${seen.failure}`,
        `choose another address with ${setting}, or run this as a user who may use it`,
      )
}

export function checkPublicUrl({ listen, publicUrl }: Listening): Finding {
  if (publicUrl === undefined) {
    return isLoopback(listen.host)
      ? ok('public URL', 'none is set, and none is needed on this machine alone')
      : warning(
          'public URL',
          'none is set, so links in answers name the listener',
          'set STRAND_PUBLIC_URL to what clients use',
        )
  }
  const { protocol, hostname, search, hash } = new URL(publicUrl)
  if (search !== '' || hash !== '') {
    return failure(
      'public URL',
      `${publicUrl} has more than a host and a path`,
      'set STRAND_PUBLIC_URL to the base URL alone',
    )
  }
  return protocol === 'http:' && !isLoopback(hostname.replace(/[[\]]/g, ''))
    ? warning(
        'public URL',
        `${publicUrl} is not https: tokens travel in the open`,
        'put a proxy with TLS in front',
      )
    : ok('public URL', `clients use ${publicUrl}`)
}

/** `ahead`: by how many seconds our clock is ahead of the other. */
export function checkClock(other: string, ahead: number): Finding {
  const seconds = Math.abs(ahead)
  const says = `our clock is ${seconds.toFixed(1)} s ${ahead < 0 ? 'behind' : 'ahead of'} ${other}`
  if (seconds > CLOCK_FAR_OFF_SECONDS) return failure('clock', says, 'set the clock; let NTP keep it')
  if (seconds > CLOCK_SECONDS) return warning('clock', says, 'let NTP keep the clocks of both')
  return ok('clock', `our clock agrees with ${other}`)
}

export function checkLimits(openFiles: number | undefined, memory: number): Finding[] {
  const findings: Finding[] = []
  if (openFiles !== undefined && openFiles < FEW_FILES) {
    const says = `a process may open ${openFiles} files, and each connection is one`
    findings.push(warning('limits', says, 'raise it: LimitNOFILE=65536 for systemd, or ulimit -n 65536'))
  }
  if (memory < LITTLE_MEMORY) {
    const says = `there are ${Math.floor(memory / MEGABYTE)} MB of memory for everything`
    findings.push(warning('limits', says, 'give it 512 MB or more'))
  }
  return findings.length > 0 ? findings : [ok('limits', 'open files and memory suffice')]
}

/** `connections`: of all processes of this node together; `servers`: how many DATABASE_URL names. */
export function checkPostgres(
  host: string,
  state: PostgresState,
  connections: number,
  servers = 1,
): Finding[] {
  const about = `PostgreSQL at ${host}`
  const { isPrimary, standbysWanted, standbysConnected, standbysInStep, synchronousCommit } = state
  const usable = state.maxConnections - state.reservedConnections
  const nodes = Math.floor(usable / connections)
  const isAsynchronous = isPrimary && standbysWanted === ''
  const isSynchronous = isPrimary && standbysWanted !== ''
  const checks: readonly (readonly [boolean, typeof warning, says: string, advice: string])[] = [
    [
      Number.parseInt(state.version, 10) < OLDEST_POSTGRES,
      warning,
      `version ${state.version} is no longer supported`,
      'use a newer one',
    ],
    [
      state.fsync !== 'on',
      failure,
      'fsync is off: a power cut destroys it',
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
      'set synchronous_standby_names, as docs/scale-out.md says',
    ],
    [
      isAsynchronous && standbysConnected === 0 && servers > 1,
      warning,
      'DATABASE_URL names several servers, and no standby follows the primary',
      'start replication, as docs/scale-out.md says',
    ],
    [
      isSynchronous && (synchronousCommit === 'local' || synchronousCommit === 'remote_write'),
      failure,
      `synchronous_standby_names is set, but synchronous_commit is ${synchronousCommit}: commits do not wait until a standby has them on disk`,
      'set synchronous_commit = on',
    ],
    [
      isSynchronous && standbysInStep === 0,
      failure,
      'it waits for standbys and none is in step: writes are answered 503',
      'bring a standby back',
    ],
    [
      nodes < 2,
      warning,
      `a node like this one takes up to ${connections} connections, and max_connections leaves ${usable}: there is no room for a second one, or for a restart beside it`,
      'raise max_connections, lower STRAND_DATABASE_CONNECTIONS or STRAND_WORKERS, or use PgBouncer',
    ],
  ]
  const findings = checks.filter(([applies]) => applies)
  if (findings.length > 0) return findings.map(([, finding, says, advice]) => finding(about, says, advice))
  const standbys = standbysInStep === 0 ? 'no standby' : `${standbysInStep} standbys in step`
  const role = isPrimary ? `the primary, with ${standbys}` : 'a standby'
  return [ok(about, `version ${state.version}, ${role}; its connections suffice for ${nodes} such nodes`)]
}
