/**
 * `npm test` runs the default tier, `*.test.ts`: what needs only the packages of npm, on both stores. `npm run test:full`
 * runs the rest, `*.full.ts`: what needs programs of the system or takes long. As root on Debian it installs the programs
 * that are missing.
 *
 *   npm test -- test/http/parse.test.ts
 *   npm run test:full -- test/store/kill.full.ts
 *   npm test -- --reporter=junit --reporter-outfile=FILE
 *
 * `--nodes 2` puts so many nodes behind one address on PostgreSQL. `--brief` leaves out the longest files of the full tier.
 */
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { Glob } from 'bun'
import { bundleThreads } from '../build/program-bundle.ts'
import { findNodeMediaServer } from './support/media/find-node-media-server.ts'
import { findPrograms } from './support/packages/debian.ts'
import { runnerOptions } from './support/runner/options.ts'
import { type Count, Report } from './support/runner/report.ts'
import { StolenTime } from './support/runner/stolen-time.ts'
import { type Run, unluckyFiles } from './support/runner/unlucky-files.ts'
import { prepareWorlds } from './support/server/prepared-world.ts'
import { createMemoryFolder } from './support/store/memory.ts'
import { type PostgresServer, startPostgres } from './support/store/postgres.ts'

const words = process.argv.slice(2)
const isFull = words[0] === '--full'
if (isFull) words.shift()
const isBrief = words[0] === '--brief'
if (isBrief) words.shift()
const at = words.indexOf('--nodes')
const [, nodes = '1'] = at < 0 ? [] : words.splice(at, 2)
const folder = mkdtempSync(join(tmpdir(), 'strand-test-'))
// Servers of other users have folders of their own in it.
chmodSync(folder, 0o711)
// The full tier tries disks.
const memory = isFull ? undefined : createMemoryFolder()
const worlds = join(folder, 'worlds')
const running = new Set<Bun.Subprocess>()
// Also when the run is interrupted: what lies in memory would stay there.
process.on('exit', () => {
  for (const each of running) each.kill()
  for (const each of [folder, memory]) if (each !== undefined) rmSync(each, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))

const threads = join(folder, 'threads')
const [postgres, strand] = await Promise.all([
  prepareStores(),
  buildStrand(join(folder, 'strand')),
  bundleThreads('.', threads),
])
const programs = isFull ? { ...(await findPrograms()), ...(await findNodeMediaServer()) } : {}

/** Starts PostgreSQL, and creates the world that test servers copy. */
async function prepareStores(): Promise<PostgresServer | undefined> {
  const started = await startPostgres({ under: memory }).catch((error: unknown) => {
    console.error(`\n!!! SKIPPED: every test on PostgreSQL. It could not be started: ${error}\n`)
    return undefined
  })
  await prepareWorlds(worlds, started?.url)
  return started
}

/** Tests start Strand hundreds of times, and the executable starts faster than the sources. */
async function buildStrand(file: string): Promise<string> {
  const build = Bun.spawn([process.execPath, 'build/executable.ts', '--out', file], { stdout: 'ignore' })
  if ((await build.exited) !== 0) throw new Error('the executable could not be built')
  return file
}

/** The slowest files start first: one of them at the end would run while the other cores are idle. */
const SLOW = {
  test: [
    'acceptance/access',
    'cli/strand',
    'cli/verbs',
    'client/client',
    'clients/twurple',
    'clients/twurple-eventsub',
    'demo/invented-video',
    'events/maintenance',
    'events/webhook-queues',
    'events/webhook-sender',
    'events/webhooks',
    'http/common',
    'http/hostile',
    'http/odd-text',
    'http/recording-response',
    'http/request-queue',
    'ingest/callbacks',
    'ingest/embedded-outage',
    'ingest/forged',
    'maintenance/backup',
    'maintenance/doctor',
    'media/embedded',
    'media/enemies',
    'media/live',
    'media/rtmp-server',
    'operations/control/audit',
    'operations/control/demo',
    'operations/control/events',
    'operations/control/watching',
    'operations/helix/get-streams',
    'operations/playback/send-heartbeat',
    'operations/suspended',
    'site/console',
    'store/audit',
    'testing/harness',
  ],
  full: [
    'build/install',
    'build/package',
    'cli/failing-workers',
    'cli/transfer',
    'deploy/proxies',
    'disk/planted-bugs',
    'events/kill',
    'events/receivers',
    'examples/examples',
    'http/endless-bodies',
    'ingest/nginx-rtmp',
    'ingest/replay',
    'media/ffmpeg',
    'media/ffmpeg-outages',
    'media/recording',
    'properties',
    'site/console',
    'site/docs',
    'site/every-page',
    'site/home',
    'site/odd-fields',
    'site/odd-text',
    'site/pictures',
    'site/watch',
    'store/both-stores',
    'store/list-plans',
  ],
}

/** They count what is late, so they run after all others, two at a time: most of them wait for what they watch. */
const LATE = [
  'cli/workers',
  'deploy/proxies',
  'deploy/rolling-upgrade',
  'disk/slow-read',
  'media/enemies',
  'site/live',
  'site/watch',
].map(name => `./test/${name}.full.ts`)

/** They neither open a browser nor count what is late, so one at a time runs beside those that do, with what these leave. */
const MEANWHILE = [
  'build/launcher',
  'build/moved-executable',
  'cli/audit',
  'cli/completion',
  'cli/events',
  'cli/profiles',
  'maintenance/examples',
  'site/docs-examples',
  'site/inherited-names',
  'site/kept-rows',
  'site/odd-text',
].map(name => `./test/${name}.full.ts`)
const LOWEST_PRIORITY = ['nice', '-n', '19']

/**
 * What `--brief` leaves out: trials that repeat with more programs, data, kills or time what others or the rig show, which run
 * before a release, and when a change touches them; and those that `npm run release` runs.
 */
const LONG = [
  'build/client-package',
  'build/install',
  'build/package',
  'cli/examples',
  'cli/failing-workers',
  'cli/terminal',
  'cli/transfer',
  'cli/world',
  'contract/tools',
  'demo/clips',
  'deploy/broadcasts-on-nodes',
  'deploy/channels-on-two-nodes',
  'deploy/production',
  'deploy/recordings-on-nodes',
  'directory/churn',
  'disk/checkpoints',
  'disk/deadline',
  'disk/failing-disk',
  'disk/moved-store',
  'disk/planted-bugs',
  'domain/marker-export/readers',
  'events/backlog',
  'events/kill',
  'events/many-sockets',
  'events/receivers',
  'events/two-nodes',
  'examples/exactly-once',
  'examples/examples',
  'fuzz/parsers',
  'http/endless-bodies',
  'http/odd-text',
  'ingest/nginx-rtmp',
  'ingest/node-media-server',
  'maintenance/clock-jumps',
  'maintenance/crafted-backups',
  'maintenance/key-replacement',
  'maintenance/postgres-backup',
  'media/ffmpeg',
  'media/ffmpeg-outages',
  'media/live-enemies',
  'media/live-formats',
  'media/long-recording',
  'media/mutations',
  'properties',
  'release/release',
  'site/login-flood',
  'site/odd-fields',
  'store/both-stores',
  'store/campaign-kills',
  'store/follow-counts',
  'store/kill',
  'store/long-audit',
  'store/migration-under-load',
  'store/older-timeline',
  'store/partitioned-by-hand',
  'store/personal-data',
  'store/postgres-hosts',
  'testing/slow-fault',
  'transfer/round-trip',
].map(name => `./test/${name}.full.ts`)

/** Processes that live for seconds do not earn back what the last of the runtime's compilers takes. */
const FAST_START = { BUN_JSC_useFTLJIT: '0' }

const suffix = isFull ? 'full' : 'test'
// Options of Bun, such as `--reporter=junit`, choose no files.
const isOption = (word: string) => /^--[a-z-]+=/.test(word)
const given = words.filter(isOption)
const named = words.filter(word => !isOption(word))
const files =
  named.length > 0
    ? named.map(word => (existsSync(word) ? `./${word}` : word))
    : [...new Glob(`./test/**/*.${suffix}.ts`).scanSync('.')]
        .filter(file => !isBrief || !LONG.includes(file))
        .sort()
// Bun knows no order but that of earlier durations.
const timings = join(folder, 'timings.json')
const slow = SLOW[suffix].map(name => `./test/${name}.${suffix}.ts`)
const durations = files.map(file => [relative('.', file), slow.includes(file) ? 10_000 : 1000])
writeFileSync(timings, JSON.stringify({ version: 1, files: Object.fromEntries(durations) }))

/** Runs files, and reads what the runner reports of them. `before`: what starts it; `write`: takes its output. */
async function runFiles(
  some: readonly string[],
  workers: number,
  {
    more = given,
    before = [] as string[],
    write = (chunk: Uint8Array) => void process.stderr.write(chunk),
  } = {},
): Promise<Run> {
  const options = [...runnerOptions({ isFull, workers }), `--timings=${timings}`, ...more]
  const runner = Bun.spawn([...before, process.execPath, 'test', ...options, ...some], {
    env: {
      ...process.env,
      ...programs,
      TEST_DATABASE_URL: postgres?.url ?? '',
      TEST_FOLDER: folder,
      TEST_MEMORY: memory ?? '',
      TEST_NODES: nodes,
      TEST_TIER: isFull ? 'full' : 'default',
      TEST_STRAND: strand,
      TEST_THREADS: threads,
      // What a killed process could not remove goes with the run.
      TMPDIR: folder,
      TEST_PREPARED_WORLDS: worlds,
      NO_COLOR: '1',
      ...FAST_START,
    },
    stdout: 'inherit',
    stderr: 'pipe',
  })
  running.add(runner)
  const report = new Report()
  const decoder = new TextDecoder()
  for await (const chunk of runner.stderr) {
    write(chunk)
    report.add(decoder.decode(chunk, { stream: true }))
  }
  const code = await runner.exited
  running.delete(runner)
  return { code, report }
}

const EXPLAINED_FAILURES = 20
const MAX_REPETITIONS = 3

/** Again, because they are hard to find among ten thousand lines, and a kept log may begin later. */
function explainFailures(some: readonly Run[]): void {
  const failures = some.flatMap(({ report }) => report.failures)
  for (const { explanation } of failures.slice(0, EXPLAINED_FAILURES)) console.error(`\n${explanation}`)
}

const stolen = new StolenTime()
const late = files.filter(file => LATE.includes(file))
const meanwhile = late.length > 0 ? files.filter(file => MEANWHILE.includes(file)) : []
const together = files.filter(file => !late.includes(file) && !meanwhile.includes(file))
const runs: Run[] = []
// More than there are cores, because many tests wait for a process, a clock or a connection.
if (together.length > 0) runs.push(await runFiles(together, availableParallelism() + 2))
const beside: Promise<Run>[] = []
// Its lines come at the end, not among those of the others.
const output: Uint8Array[] = []
if (late.length > 0) beside.push(runFiles(late, 2))
if (meanwhile.length > 0)
  beside.push(runFiles(meanwhile, 1, { before: LOWEST_PRIORITY, write: chunk => void output.push(chunk) }))
runs.push(...(await Promise.all(beside)))
for (const chunk of output) process.stderr.write(chunk)
stolen.note()
explainFailures(runs)
const count = (word: Count) => runs.reduce((sum, { report }) => sum + report.count(word), 0)
let code = runs.find(each => each.code !== 0)?.code ?? 0
let failed = count('fail')
let last: readonly Run[] = runs
for (let repetition = 0; repetition < MAX_REPETITIONS; repetition++) {
  const unlucky = unluckyFiles(last, stolen)
  if (unlucky.length === 0) break
  console.error(
    '\n!!! REPEATED: the host of this machine took processors from it (steal in /proc/stat) while tests failed. When it takes few, their files run again, one at a time.\n',
  )
  await stolen.untilCalm()
  const again = await runFiles(unlucky, 1, { more: [] })
  stolen.note()
  explainFailures([again])
  code = again.code
  failed = again.report.count('fail')
  last = [again]
}
await postgres?.stop()

const passed = count('pass') + count('fail') - failed
console.log(`${passed} passed, ${failed} failed, ${count('skip')} skipped`)
process.exit(code)
