/** The p99 of few reading connections alone, and beside something else that the server is given to do. */
import { SeededRandom } from '../../src/kit/random.ts'
import type { Bench, Inhabited, Measure, Result } from '../bench.ts'
import { sendAround } from '../load/connections.ts'
import type { BenchRequest } from '../load/request.ts'
import { processorSecondsOf } from '../load/usage.ts'
import { whole } from '../report.ts'
import { scenarios } from '../scenarios/index.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import { createStreamMarker, getStreamsTop } from '../scenarios/streams.ts'
import type { BenchWorld } from '../world/world.ts'
import { prepare } from './prepare.ts'
import { inTurns, loadOn, ratioOf, type Side, secondsOfTurns } from './rounds.ts'

const READING_CONNECTIONS = 8
const MOST = 2
/** The disturbance begins so long before the reads, and lasts as long after them. */
const MARGIN_SECONDS = 0.5
const CHANNELS_PER_REPORT = 10_000
const REPORT_EVERY_SECONDS = 5
const SECONDS_OF_REPORTS = 20
/** Each round of reports has other counts than the one before. */
const ROUNDS_OF_COUNTS = 4

const READ_BESIDE_WRITERS = scenarios.filter(each => each.besideWriters)

export const writers: Measure = {
  name: 'writers',
  seconds: ({ pace }) => READ_BESIDE_WRITERS.length * secondsOfTurns(pace, 2),
  run: async bench => {
    const ground = await bench.ground()
    const writing = await prepare(ground.world, ground.strand, createStreamMarker)
    const write = loadOn(bench, ground.strand, writing)
    return Array.fromAsync(READ_BESIDE_WRITERS, scenario =>
      readBeside(bench, ground, scenario, '32 writers', write),
    )
  },
}

/** The viewers of all who are live change every five seconds, in calls of 10,000 channels, evenly spaced. */
export const viewers: Measure = {
  name: 'viewers',
  seconds: ({ pace }) => SECONDS_OF_REPORTS + secondsOfTurns(pace, 2),
  run: async bench => {
    const ground = await bench.ground()
    const { world, strand } = ground
    const report = (seconds: number) =>
      sendAround({ url: strand.url, seconds, ...viewerReports(world) }).then(({ perSecond }) => perSecond)
    const before = processorSecondsOf(strand.pid)
    const began = performance.now()
    await report(SECONDS_OF_REPORTS)
    const share = (processorSecondsOf(strand.pid) - before) / ((performance.now() - began) / 1000)
    return [
      {
        work: `Viewers of ${whole(world.size.streams)} channels every ${REPORT_EVERY_SECONDS} s`,
        value: 100 * share,
        unit: '% of a core',
        atMost: 25,
      },
      await readBeside(bench, ground, getStreamsTop, 'viewer reports', report),
    ]
  },
}

function viewerReports({ liveIds, secrets }: BenchWorld) {
  const random = new SeededRandom(7)
  const parts = Math.ceil(liveIds.length / CHANNELS_PER_REPORT)
  const report = (n: number): BenchRequest => {
    const start = (n % parts) * CHANNELS_PER_REPORT
    // Few have most of the viewers.
    const counts = liveIds
      .slice(start, start + CHANNELS_PER_REPORT)
      .map(id => [id, Math.floor(2 / (random.next() + 0.00001))])
    const body = { counts: Object.fromEntries(counts) }
    return { method: 'POST', path: '/control/viewers', token: secrets.operatorToken, body }
  }
  const requests = Array.from({ length: ROUNDS_OF_COUNTS * parts }, (_, n) => report(n))
  return { perSecond: parts / REPORT_EVERY_SECONDS, circles: [requests] }
}

async function readBeside(
  bench: Bench,
  { world, strand }: Inhabited,
  scenario: Scenario,
  name: string,
  disturb: (seconds: number) => Promise<unknown>,
): Promise<Result> {
  const alone = loadOn(bench, strand, await prepare(world, strand, scenario), READING_CONNECTIONS)
  const beside: Side = async seconds => {
    const [, reads] = await Promise.all([
      disturb(seconds + 2 * MARGIN_SECONDS),
      Bun.sleep(MARGIN_SECONDS * 1000).then(() => alone(seconds)),
    ])
    return reads
  }
  const [without = [], during = []] = await inTurns(bench.plan.pace, [alone, beside])
  const ratio = ratioOf(`${scenario.work}, beside ${name}`, 'p99', during, without, 'the p99 alone')
  return { ...ratio, atMost: MOST }
}
