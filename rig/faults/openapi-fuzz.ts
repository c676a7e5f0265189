/** S18, S19, S21. Random requests to every operation; every response is checked against the served OpenAPI document. */
import { join } from 'node:path'
import { startPostgres } from '../../test/support/store/postgres.ts'
import { SECRET } from '../fuzz/check-answer.ts'
import { DemoProcess } from '../fuzz/demo-process.ts'
import type { ApiDocument } from '../fuzz/document.ts'
import { type Case, Fuzzer, type Tally } from '../fuzz/fuzzer.ts'
import { PLANTED } from '../fuzz/planted.ts'
import { startReceiver } from '../fuzz/receiver.ts'
import { output } from '../progress.ts'
import type { Finding, Site, Trial } from './fault.ts'
import { atMost, noted, shown } from './findings.ts'

const ENGINES = 2
/** Upper bound of extra requests for operations that have not succeeded yet. */
const MORE_REQUESTS = 3000
const PLANTED_REQUESTS = 400
const MAX_ANSWER_SECONDS = 5

const SETTINGS = {
  STRAND_RATE_APP: '0',
  STRAND_RATE_USER: '0',
  STRAND_RATE_ANONYMOUS: '0',
  STRAND_LOG: 'debug',
  STRAND_LOG_FORMAT: 'json',
}

type EngineName = 'sqlite' | 'postgres'

export const openapiFuzz: Trial = {
  name: 'openapi-fuzz',
  what: 'random valid and invalid requests to every operation, checked against the OpenAPI document',
  seconds: pace => 10 + pace.requests / 250,
  run: async site => {
    const postgres = await startPostgres()
    site.lifetime.onClose(() => postgres.stop())
    const onSqlite = await fuzz('sqlite', SETTINGS, site)
    const onPostgres = await fuzz('postgres', { ...SETTINGS, DATABASE_URL: postgres.url }, site)
    const runs = [onSqlite, onPostgres]
    return [
      noted('requests by kind of response', runs.map(describe).join('; ')),
      casesFinding(runs, site),
      reachedFinding(runs),
      noted('share of 2xx per operation, lowest first', shares(runs)),
      logFinding(runs),
      atMost(
        'longest response time',
        Math.max(...runs.map(each => each.fuzzer.longestMilliseconds)) / 1000,
        MAX_ANSWER_SECONDS,
        ' s',
      ),
      ...onSqlite.planted,
    ]
  },
}

interface Run {
  readonly engine: EngineName
  readonly fuzzer: Fuzzer
  readonly log: string
  readonly planted: readonly Finding[]
}

async function fuzz(
  engine: EngineName,
  settings: Readonly<Record<string, string>>,
  { folder, lifetime, pace }: Site,
): Promise<Run> {
  const demo = await DemoProcess.start(join(folder, `fuzz-${engine}.log`), settings)
  lifetime.onClose(() => demo.stop())
  const { world } = demo
  const document = (await (await fetch(`${world.control_url}/openapi.json`)).json()) as ApiDocument
  const receiver = startReceiver()
  lifetime.onClose(() => receiver.stop())
  const callback = receiver.url
  const fuzzer = new Fuzzer({ document, world, callback, seed: pace.seed })
  await fuzzer.run(Math.ceil(pace.requests / ENGINES))
  await fuzzer.reachAll(MORE_REQUESTS)
  for (const each of fuzzer.cases) sayCase(each, engine, pace.seed)
  const log = demo.log()
  const planted: Finding[] = []
  if (engine === 'sqlite') {
    for (const [bug, spoil] of Object.entries(PLANTED)) {
      const blind = new Fuzzer({
        document,
        world,
        callback,
        seed: pace.seed,
        spoil: ({ answer, request }) => (typeof answer === 'string' ? answer : spoil(answer, request)),
      })
      await blind.run(PLANTED_REQUESTS, () => blind.violations > 0)
      planted.push(plantedFinding(bug, blind))
    }
  }
  await demo.stop()
  return { engine, fuzzer, log, planted }
}

function sayCase({ operation, violation, curl, number }: Case, engine: EngineName, seed: number): void {
  output(`  ${engine}, ${operation}, request ${number} of seed ${seed}: ${violation}\n    ${curl}`)
}

function describe({ engine, fuzzer: { sent, statuses, broken } }: Run): string {
  const kinds = Map.groupBy(statuses, ([status]) => (status === 0 ? 'none' : `${Math.floor(status / 100)}xx`))
  const counts = [...kinds]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, all]) => `${shown(all.reduce((sum, [, count]) => sum + count, 0))} ${kind}`)
  return `${shown(sent)} on ${engine}: ${counts.join(', ')}, ${shown(broken)} with a malformed head`
}

function casesFinding(runs: readonly Run[], { pace }: Site): Finding {
  const violations = runs.reduce((sum, { fuzzer }) => sum + fuzzer.violations, 0)
  const [first] = runs.flatMap(({ fuzzer }) => fuzzer.cases)
  const example =
    first && ` (seed ${pace.seed}, first: ${first.operation}: ${first.violation}: ${first.curl})`
  return {
    asked: 'responses that violate the document, 5xx and missing responses',
    measured: `${shown(violations)}${example ?? ''}`,
    goal: '0',
    verdict: violations === 0 ? 'held' : 'broken',
  }
}

function reachedFinding(runs: readonly Run[]): Finding {
  const missed = runs.flatMap(({ engine, fuzzer }) =>
    fuzzer.unreached.map(operation => `${operation} on ${engine}`),
  )
  const all = runs.reduce((sum, { fuzzer }) => sum + fuzzer.tallies.size, 0)
  return {
    asked: 'operations reached with a 2xx',
    measured: `${all - missed.length} of ${all}${missed.length > 0 ? ` (not ${missed.join(', ')})` : ''}`,
    goal: 'all',
    verdict: missed.length === 0 ? 'held' : 'broken',
  }
}

/** `GetStreamKey 31 %, ...`, over both engines. */
function shares(runs: readonly Run[]): string {
  const tallies = runs.flatMap(({ fuzzer }) => [...fuzzer.tallies])
  const sum = (of: (typeof tallies)[number][], what: keyof Tally) =>
    of.reduce((total, [, tally]) => total + tally[what], 0)
  return [...Map.groupBy(tallies, ([operation]) => operation)]
    .map(([operation, all]) => [operation, sum(all, 'succeeded') / Math.max(1, sum(all, 'asked'))] as const)
    .toSorted(([, a], [, b]) => a - b)
    .map(([operation, share]) => `${operation} ${Math.round(100 * share)} %`)
    .join(', ')
}

/** pino's levels: 50 is an error, 60 is fatal. */
function logFinding(runs: readonly Run[]): Finding {
  const errors = runs.flatMap(({ log }) =>
    log.split('\n').filter(line => /"level":(50|60|"error"|"fatal")/.test(line)),
  )
  const leaks = runs.filter(({ log }) => SECRET.test(log))
  return {
    asked: "errors in the servers' logs; logs with a secret",
    measured: `${errors.length}, ${leaks.length}${errors.length > 0 ? ` (first: ${errors[0]?.slice(0, 300)})` : ''}`,
    goal: '0, 0',
    verdict: errors.length + leaks.length === 0 ? 'held' : 'broken',
  }
}

function plantedFinding(bug: string, { violations, sent, cases }: Fuzzer): Finding {
  return {
    asked: `planted: ${bug}`,
    measured:
      violations > 0 ? `detected at request ${sent}: ${cases[0]?.violation}` : `not detected in ${sent}`,
    goal: 'detected',
    verdict: violations > 0 ? 'held' : 'broken',
  }
}
