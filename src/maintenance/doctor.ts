import { existsSync, statSync } from 'node:fs'
import type { Config } from '../config.ts'
import { readMasterKeys, storeFileOf } from '../data-folder.ts'
import { descriptorLimit } from '../kit/descriptors.ts'
import { SETTINGS } from '../settings.ts'
import {
  integrityErrors,
  isInUse,
  schemaOf,
  storeSummary,
  streamKeysByMasterKey,
} from '../store/embedded-file.ts'
import { queryServers } from '../store/postgres-server.ts'
import {
  checkClock,
  checkKeyRing,
  checkLeftovers,
  checkLimits,
  checkListeners,
  checkModes,
  checkPort,
  checkPostgres,
  checkPublicUrl,
  checkSchema,
  checkSpace,
  checkStore,
  checkSync,
} from './checks.ts'
import { type Finding, failure, note, ok } from './finding.ts'
import { measureSync, probeListener, readClockAt, readFolder, readMemory, readSpace } from './observe.ts'

/** What a process opens beside its pools: one to look for the primary, and one for long reading. */
const CONNECTIONS_BESIDE = 2

const FIRST_START = 'the first start makes it; or name another with --data'

/** Checks everything that an installation depends on. It changes nothing, and a server may run meanwhile. */
export async function examine(config: Config, url: string | undefined): Promise<Finding[]> {
  return [
    ...checkListeners(config),
    ...(await examinePorts(config)),
    checkPublicUrl(config),
    ...examineFolder(config),
    ...(config.databaseUrl === undefined
      ? examineEmbedded(config)
      : await examinePostgres(config, config.databaseUrl)),
    ...checkLimits(descriptorLimit(), readMemory()),
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

function examineFolder({ dataFolder }: Config): Finding[] {
  const { free, total } = readSpace(dataFolder)
  const space = checkSpace(dataFolder, free, total)
  if (!existsSync(dataFolder)) return [space, note('files', `${dataFolder} is not there`, FIRST_START)]
  try {
    const { folder, files, names } = readFolder(dataFolder)
    const sync = checkSync(measureSync(dataFolder))
    return [space, sync, ...checkModes(folder, files), ...checkLeftovers(dataFolder, names)]
  } catch (error) {
    const says = `${dataFolder} cannot be used: ${(error as Error).message}`
    const advice = 'run this as the user that the server runs as, and correct its permissions'
    return [space, failure('files', says, advice)]
  }
}

function examineEmbedded(config: Config): Finding[] {
  const file = storeFileOf(config)
  if (!existsSync(file)) return [note('store', `there is no store in ${config.dataFolder}`, FIRST_START)]
  const violations = integrityErrors(file, 'quick')
  const summary = violations.length > 0 ? undefined : storeSummary(file)
  const logBytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const findings = checkStore({ violations, schema: summary && schemaOf(file), logBytes })
  if (summary === undefined) return findings
  // Whatever was written was written before now, or a clock was or is wrong.
  const ahead = (Date.now() - Date.parse(summary.lastWrite)) / 1000
  findings.push(checkClock('the last write of the store', Math.min(0, ahead)))
  findings.push(ok('server', isInUse(file) ? 'a server has the store open' : 'no server has the store open'))
  return [...findings, ...examineKeyRing(config, streamKeysByMasterKey(file))]
}

async function examinePostgres(config: Config, databaseUrl: string): Promise<Finding[]> {
  const findings: Finding[] = []
  const servers = await queryServers(databaseUrl)
  for (const server of servers) {
    if ('failure' in server) {
      const advice = 'correct that, and run strand doctor again'
      findings.push(failure(`PostgreSQL at ${server.host}`, `it cannot be asked: ${server.failure}`, advice))
      continue
    }
    const { host, state } = server
    const perProcess = config.databaseConnections + CONNECTIONS_BESIDE
    findings.push(...checkPostgres(host, state, perProcess * config.workers, servers.length))
    findings.push(checkClock(`that of ${host}`, (Date.now() - state.clock) / 1000))
    if (!state.isPrimary) continue
    if (state.schema.version === 0) {
      findings.push(
        note('schema', 'the database is empty', 'the first start makes the schema, or strand migrate'),
      )
    } else findings.push(checkSchema(state.schema), ...examineKeyRing(config, state.streamKeysByMasterKey))
  }
  if (servers.every(server => 'failure' in server || !server.state.isPrimary)) {
    const says = 'no server of DATABASE_URL can be written to'
    findings.push(failure('store', says, 'promote a standby, or name the primary'))
  }
  return findings
}

function examineKeyRing(config: Config, sealedBy: ReadonlyMap<string, number>): Finding[] {
  try {
    const ring = (readMasterKeys(config) ?? []).map(key => key.id)
    return checkKeyRing(ring, sealedBy)
  } catch (error) {
    return [
      failure('key ring', (error as Error).message, 'without its master keys no stream key can be read'),
    ]
  }
}

async function examineClockAt(url: string): Promise<Finding> {
  const ahead = await readClockAt(url)
  if (typeof ahead === 'number') return checkClock(`that of ${url}`, ahead)
  const says = `${url} does not answer: ${ahead.failure}`
  return failure('clock', says, 'see whether the server runs and the URL is right')
}
