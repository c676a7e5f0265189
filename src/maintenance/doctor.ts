import { existsSync, statSync } from 'node:fs'
import { type Config, formatUrl } from '../config/config.ts'
import { readMasterKeys, storeFilePath } from '../config/data-folder.ts'
import { SETTINGS } from '../config/settings.ts'
import { checkMediaServer } from '../ingest/check.ts'
import { descriptorLimit } from '../kit/telemetry/descriptors.ts'
import { toBucketOptions } from '../media/bucket.ts'
import {
  integrityErrors,
  isInUse,
  mediaServersIn,
  reservedLoginsIn,
  schemaOf,
  storeSummary,
  streamKeysByMasterKey,
} from '../store/embedded-file.ts'
import { queryServers } from '../store/postgres-server.ts'
import type { MediaServerAddress } from '../store/queries/media-servers.ts'
import {
  checkClock,
  checkHlsFolder,
  checkKeyRing,
  checkLeftovers,
  checkLimits,
  checkListeners,
  checkMediaServerState,
  checkModes,
  checkObjectStorage,
  checkPort,
  checkPostgres,
  checkProxies,
  checkPublicUrl,
  checkReservedLogins,
  checkSchema,
  checkSpace,
  checkStore,
  checkStrict,
  checkSync,
} from './checks.ts'
import { type Finding, failure, note, ok } from './finding.ts'
import {
  findStreamKeys,
  measureSync,
  probeBucket,
  probeListener,
  readClockAt,
  readFolder,
  readMemory,
  readSpace,
} from './observe.ts'

/** Connections outside the pools: one to find the primary, and one for long reads. */
const OTHER_CONNECTIONS = 2

const FIRST_START = 'the first start creates it; or give another folder with --data'

/** Checks everything that an installation depends on. Changes nothing; a server may be running. */
export async function examine(
  config: Config,
  {
    url,
    hlsFolder,
    isServing = false,
    unnamedProxy,
  }: {
    readonly url?: string | undefined
    readonly hlsFolder?: string | undefined
    /** The server asks about itself: it must not wait for a disk, or read the whole store. */
    readonly isServing?: boolean
    /** The server has had requests from this proxy. */
    readonly unnamedProxy?: string | undefined
  },
): Promise<Finding[]> {
  return [
    ...checkListeners(config),
    ...(await examinePorts(config)),
    checkPublicUrl(config),
    ...checkProxies(config, unnamedProxy),
    ...checkStrict(config),
    ...examineFolder(config, isServing),
    ...(config.databaseUrl === undefined
      ? examineEmbedded(config, isServing)
      : await examinePostgres(config, config.databaseUrl)),
    ...checkLimits(descriptorLimit(), readMemory()),
    ...(await examineMediaServers(config)),
    ...(await examineObjectStorage(config)),
    ...(hlsFolder === undefined ? [] : [examineHlsFolder(hlsFolder)]),
    ...(url === undefined ? [] : [await examineClockAt(url)]),
  ]
}

async function examinePorts({ listen, operatorListen }: Config): Promise<Finding[]> {
  const findings = [checkPort(SETTINGS.listen.name, listen, await probeListener(listen))]
  if (operatorListen !== undefined)
    findings.push(
      checkPort(SETTINGS.operatorListen.name, operatorListen, await probeListener(operatorListen)),
    )
  return findings
}

function examineFolder({ dataFolder }: Config, isServing: boolean): Finding[] {
  const { free, total } = readSpace(dataFolder)
  const space = checkSpace(dataFolder, free, total)
  if (!existsSync(dataFolder)) return [space, note('files', `${dataFolder} does not exist`, FIRST_START)]
  try {
    const { folder, files, names } = readFolder(dataFolder)
    const sync = isServing ? [] : [checkSync(measureSync(dataFolder))]
    return [space, ...sync, ...checkModes(folder, files), ...checkLeftovers(dataFolder, names)]
  } catch (error) {
    const message = `cannot use ${dataFolder}: ${(error as Error).message}`
    const advice = 'run this command as the user of the server, and correct the permissions'
    return [space, failure('files', message, advice)]
  }
}

function examineEmbedded(config: Config, isServing: boolean): Finding[] {
  const file = storeFilePath(config)
  if (!existsSync(file)) return [note('store', `no store in ${config.dataFolder}`, FIRST_START)]
  const violations = isServing ? undefined : integrityErrors(file, 'quick')
  const summary = violations !== undefined && violations.length > 0 ? undefined : storeSummary(file)
  const logBytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const findings = checkStore({ violations, schema: summary && schemaOf(file), logBytes })
  if (summary === undefined) return findings
  // A write in the future means that the clock is or was wrong.
  const ahead = (Date.now() - Date.parse(summary.lastWrite)) / 1000
  findings.push(checkClock('the last write of the store', Math.min(0, ahead)))
  findings.push(ok('server', isInUse(file) ? 'a server has the store open' : 'no server has the store open'))
  return [
    ...findings,
    ...checkReservedLogins(reservedLoginsIn(file)),
    ...examineKeyRing(config, streamKeysByMasterKey(file)),
  ]
}

async function examinePostgres(config: Config, databaseUrl: string): Promise<Finding[]> {
  const findings: Finding[] = []
  const servers = await queryServers(databaseUrl)
  for (const server of servers) {
    if ('failure' in server) {
      const advice = 'correct this, and run strand doctor again'
      findings.push(failure(`PostgreSQL at ${server.host}`, `cannot be queried: ${server.failure}`, advice))
      continue
    }
    const { host, state } = server
    const perProcess = config.databaseConnections + OTHER_CONNECTIONS
    findings.push(...checkPostgres(host, state, perProcess * config.workers, servers.length))
    findings.push(checkClock(`that of ${host}`, (Date.now() - state.clock) / 1000))
    if (!state.isPrimary) continue
    if (state.schema.version === 0) {
      findings.push(
        note(
          'schema',
          'the database is empty',
          'start the server or run strand migrate to create the schema',
        ),
      )
    } else {
      findings.push(checkSchema(state.schema), ...checkReservedLogins(state.reservedLogins))
      findings.push(...examineKeyRing(config, state.streamKeysByMasterKey))
    }
  }
  if (servers.every(server => 'failure' in server || !server.state.isPrimary)) {
    const message = 'no server in DATABASE_URL accepts writes'
    findings.push(failure('store', message, 'promote a standby, or add the primary to DATABASE_URL'))
  }
  return findings
}

function examineKeyRing(config: Config, sealedBy: ReadonlyMap<string, number>): Finding[] {
  try {
    const ring = (readMasterKeys(config) ?? []).map(key => key.id)
    return checkKeyRing(ring, sealedBy)
  } catch (error) {
    return [
      failure(
        'key ring',
        (error as Error).message,
        'restore the master keys: without them no stream key can be read',
      ),
    ]
  }
}

/** PostgreSQL that cannot be queried, and a damaged file, are findings of other checks. */
async function examineMediaServers(config: Config): Promise<Finding[]> {
  const servers = await readMediaServers(config).catch(() => [])
  return Promise.all(
    servers.map(async server => checkMediaServerState(server, await checkMediaServer(server))),
  )
}

async function readMediaServers(config: Config): Promise<readonly MediaServerAddress[]> {
  if (config.databaseUrl !== undefined) {
    const reports = await queryServers(config.databaseUrl)
    return reports.flatMap(each => ('state' in each && each.state.isPrimary ? each.state.mediaServers : []))
  }
  const file = storeFilePath(config)
  return existsSync(file) ? mediaServersIn(file) : []
}

async function examineObjectStorage({ objectStorage, publicUrl, listen }: Config): Promise<Finding[]> {
  const options = toBucketOptions(objectStorage)
  if (options === undefined) return []
  return [checkObjectStorage(options, await probeBucket(options, publicUrl ?? formatUrl(listen)))]
}

function examineHlsFolder(folder: string): Finding {
  try {
    return checkHlsFolder(folder, findStreamKeys(folder))
  } catch (error) {
    const message = `cannot read ${folder}: ${(error as Error).message}`
    return failure(
      'stream keys',
      message,
      'correct --hls-folder, or run this command as a user who may read it',
    )
  }
}

async function examineClockAt(url: string): Promise<Finding> {
  const ahead = await readClockAt(url)
  if (typeof ahead === 'number') return checkClock(`that of ${url}`, ahead)
  const message = `cannot read the time of ${url}: ${ahead.failure}`
  return failure('clock', message, 'check that the server is running and the URL is correct')
}
