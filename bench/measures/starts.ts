/** What a process takes before it does anything: servers until their first answer, commands until their end. */
import type { Bench, Measure, Result } from '../bench.ts'
import { memoryOf } from '../load/usage.ts'
import { whole } from '../report.ts'
import { median } from '../statistics.ts'
import { type Secrets, SMALLEST, secondsToMake } from '../world/world.ts'

const STARTS = 3
const SETTLE_MILLISECONDS = 1500
const LIVE_FOR_VERBS = 20_000
const VERBS = ['stream list --first 1', 'user show 140000000', 'game list --first 1']

/** The goals are for an empty store and for one with 100,000 live streams. */
export const starts: Measure = {
  name: 'starts',
  seconds: ({ size }) => secondsToMake(size) + 2 * STARTS * 3,
  run: async bench => {
    const world = await bench.world()
    const live = `${whole(world.size.streams)} live`
    const emptyOf = (start: number) => ({ folder: bench.folder(`empty-${start}`) })
    const empty = await measureStarts(bench, 'empty store', 'ms', emptyOf)
    const full = await measureStarts(bench, live, 'ms with live streams', () => world)
    return [
      { ...empty.time, atMost: 300 },
      { ...empty.memory, atMost: 120 },
      { ...full.time, atMost: 700 },
      { ...full.memory, atMost: 400 },
    ]
  },
}

async function measureStarts(
  { processes }: Bench,
  name: string,
  unit: string,
  storeOf: (start: number) => { folder: string; secrets?: Secrets },
): Promise<Record<'time' | 'memory', Result>> {
  const [times, resident, own]: [number[], number[], number[]] = [[], [], []]
  for (let start = 0; start < STARTS; start++) {
    const { folder, ...options } = storeOf(start)
    const strand = await processes.startStrand(folder, options)
    times.push(strand.milliseconds)
    await Bun.sleep(SETTLE_MILLISECONDS)
    const memory = memoryOf(strand.pid)
    resident.push(memory.resident)
    own.push(memory.own)
    await strand.stop()
  }
  const details = `${whole(median(own))} MB without mapped files`
  return {
    time: { work: `Start to first response, ${name}`, value: median(times), unit },
    memory: { work: `Resident memory, ${name}`, value: median(resident), unit: 'MB', details },
  }
}

/** Commands on a store that no server has open, as people run them: `bin/strand.js` of the package. */
export const verbs: Measure = {
  name: 'verbs',
  seconds: () => secondsToMake({ ...SMALLEST, streams: LIVE_FOR_VERBS }) + 10,
  run: async bench => {
    const world = await bench.makeWorld('verbs', { ...SMALLEST, streams: LIVE_FOR_VERBS })
    const { processes } = bench
    const times: [string, number][] = []
    const withoutNode: number[] = []
    for (const verb of VERBS) {
      const seconds: number[] = []
      for (let start = 0; start < STARTS; start++) {
        seconds.push((await processes.runStrand(world, verb.split(' '), { launched: true })).seconds)
        withoutNode.push((await processes.runStrand(world, verb.split(' '))).seconds)
      }
      times.push([verb, median(seconds)])
    }
    return [
      {
        work: `strand verbs, ${whole(LIVE_FOR_VERBS)} live`,
        value: Math.max(...times.map(([, seconds]) => seconds)),
        unit: 's',
        details: `${times.map(([name, seconds]) => `${name} ${seconds.toFixed(2)} s`).join(', ')}; ${median(withoutNode).toFixed(2)} s without the launcher in Node`,
        atMost: 0.2,
      },
    ]
  },
}
