import { existsSync, statSync } from 'node:fs'
import type { Config } from '../config.ts'
import { readMasterKeys, storeFileOf } from '../data-folder.ts'
import { complaintsOf, isInUse, schemaOf, standingOf, streamKeysByMasterKey } from '../store/embedded-file.ts'
import { askServers } from '../store/postgres-server.ts'
import { type Finding, note, ok, problem } from './finding.ts'
import {
  judgeClock,
  judgeKeyRing,
  judgeLeftovers,
  judgeLimits,
  judgeListeners,
  judgeModes,
  judgePort,
  judgePostgres,
  judgePublicUrl,
  judgeSchema,
  judgeSpace,
  judgeStore,
  judgeSync,
} from './judge.ts'
import {
  measureSync,
  seeClockAt,
  seeFolder,
  seeListener,
  seeMemory,
  seeOpenFiles,
  seeSpace,
} from './observe.ts'

/** What a process opens beside its pools: one to look for the primary, and one for long reading. */
const CONNECTIONS_BESIDE = 2

/** Looks at everything that an installation stands on. It changes nothing, and a server may run meanwhile. */
export async function examine(config: Config, url: string | undefined): Promise<Finding[]> {
  const findings = [
    ...judgeListeners(config),
    ...(await examinePorts(config)),
    judgePublicUrl(config),
    ...examineFolder(config),
  ]
  findings.push(
    ...(config.databaseUrl === undefined ? examineEmbedded(config) : await examinePostgres(config)),
  )
  findings.push(...judgeLimits(seeOpenFiles(), seeMemory()))
  if (url !== undefined) findings.push(await examineClockAt(url))
  return findings
}

async function examinePorts({ listen, operatorListen }: Config): Promise<Finding[]> {
  const findings = [judgePort('STRAND_LISTEN', listen, await seeListener(listen))]
  if (operatorListen !== undefined)
    findings.push(judgePort('STRAND_OPERATOR_LISTEN', operatorListen, await seeListener(operatorListen)))
  return findings
}

function examineFolder({ dataFolder }: Config): Finding[] {
  const { free, total } = seeSpace(dataFolder)
  const space = judgeSpace(dataFolder, free, total)
  if (!existsSync(dataFolder)) {
    return [
      space,
      note('files', `${dataFolder} is not there`, 'the first start makes it; or name another with --data'),
    ]
  }
  try {
    const { folder, files, names } = seeFolder(dataFolder)
    const sync = judgeSync(measureSync(dataFolder))
    return [space, sync, ...judgeModes(folder, files), ...judgeLeftovers(dataFolder, names)]
  } catch (error) {
    const says = `${dataFolder} cannot be used: ${(error as Error).message}`
    return [
      space,
      problem('files', says, 'run this as the user the server runs as, and mend its permissions'),
    ]
  }
}

function examineEmbedded(config: Config): Finding[] {
  const file = storeFileOf(config)
  if (!existsSync(file)) {
    return [
      note(
        'store',
        `there is no store in ${config.dataFolder}`,
        'the first start makes it; or name another with --data',
      ),
    ]
  }
  const complaints = complaintsOf(file, 'quick')
  const standing = complaints.length > 0 ? undefined : standingOf(file)
  const log = `${file}-wal`
  const findings = judgeStore({
    complaints,
    schema: standing && schemaOf(file),
    logBytes: existsSync(log) ? statSync(log).size : 0,
  })
  if (standing === undefined) return findings
  // Whatever was written was written before now, or a clock was or is wrong.
  const ahead = (Date.now() - Date.parse(standing.lastWrite)) / 1000
  findings.push(judgeClock('the last write of the store', Math.min(0, ahead)))
  findings.push(ok('server', isInUse(file) ? 'a server has the store open' : 'no server has the store open'))
  return [...findings, ...examineKeyRing(config, streamKeysByMasterKey(file))]
}

async function examinePostgres(config: Config): Promise<Finding[]> {
  const findings: Finding[] = []
  const servers = await askServers(config.databaseUrl ?? '')
  for (const server of servers) {
    if ('failure' in server) {
      const advice = 'correct that, and run strand doctor again'
      findings.push(problem(`PostgreSQL at ${server.host}`, `it cannot be asked: ${server.failure}`, advice))
      continue
    }
    const { host, state } = server
    const perProcess = config.databaseConnections + CONNECTIONS_BESIDE
    findings.push(...judgePostgres(host, state, perProcess * config.workers, servers.length))
    findings.push(judgeClock(`that of ${host}`, (Date.now() - state.clock) / 1000))
    if (!state.isPrimary) continue
    if (state.schema.version === 0) {
      findings.push(
        note('schema', 'the database is empty', 'the first start makes the schema, or strand migrate'),
      )
    } else findings.push(judgeSchema(state.schema), ...examineKeyRing(config, state.streamKeysByMasterKey))
  }
  if (servers.every(server => 'failure' in server || !server.state.isPrimary)) {
    findings.push(
      problem(
        'store',
        'no server of DATABASE_URL can be written to',
        'promote a standby, or name the primary',
      ),
    )
  }
  return findings
}

function examineKeyRing(config: Config, sealedBy: ReadonlyMap<string, number>): Finding[] {
  try {
    const ring = (readMasterKeys(config) ?? []).map(key => key.id)
    return judgeKeyRing(ring, sealedBy)
  } catch (error) {
    return [
      problem('key ring', (error as Error).message, 'without its master keys no stream key can be read'),
    ]
  }
}

async function examineClockAt(url: string): Promise<Finding> {
  const ahead = await seeClockAt(url)
  return typeof ahead === 'number'
    ? judgeClock(`that of ${url}`, ahead)
    : problem(
        'clock',
        `${url} does not answer: ${ahead.failure}`,
        'see whether the server runs and the URL is right',
      )
}
