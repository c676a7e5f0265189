/**
 * Broadcasts on the embedded media server: what viewers, packaging and publishers cost it. Processor time is that of the
 * server, so other work on the machine does not count, as long as everything arrives in time.
 */
import { freePort } from '../../test/support/store/postgres.ts'
import type { Bench, Measure, Result } from '../bench.ts'
import { whole } from '../format.ts'
import { HlsViewers } from '../load/hls-viewers.ts'
import type { Served } from '../load/processes.ts'
import { Publishers } from '../load/publishers.ts'
import { memoryOf, PeakMemory, processorSecondsOf } from '../load/usage.ts'
import { SMALLEST } from '../world/world.ts'
import { askBytes } from './prepare.ts'

const MEGABIT = 1_000_000
const WARM_UP_MILLISECONDS = 8000
const SECONDS = 15
const VIEWERS = 500
const WATCHED_MEGABITS = 6
const PACKAGED = 20
const PUBLISHERS = 200

/** A server, and publishers of so many megabits per second. */
interface Broadcasts {
  readonly strand: Served
  readonly publishers: Publishers
  /** Private memory before the first broadcast. */
  readonly empty: number
  /** Makes a channel that is live, and gives its login. */
  publish(): Promise<string>
}

/** One run of a media server, which ends with it. */
function videoMeasure(
  name: string,
  megabits: number,
  seconds: number,
  run: (broadcasts: Broadcasts) => Promise<readonly Result[]>,
): Measure {
  const start = async (bench: Bench): Promise<Broadcasts> => {
    const world = await bench.makeWorld(name, SMALLEST)
    const rtmpPort = await freePort()
    const settings = { STRAND_RTMP_LISTEN: `127.0.0.1:${rtmpPort}`, STRAND_MEDIA_THUMBNAILS: 'off' }
    const { secrets } = world
    const strand = await bench.processes.startStrand(world.folder, { secrets, settings })
    const publishers = new Publishers(megabits * MEGABIT)
    const control = async (path: string, body: object): Promise<Record<string, string>> => {
      const request = { method: 'POST', path: `/control${path}`, token: secrets.operatorToken, body } as const
      return JSON.parse((await askBytes(strand, request)).toString()).data[0]
    }
    let channels = 0
    const publish = async () => {
      const login = `broadcast_${++channels}`
      const { id } = await control('/users', { login })
      const { stream_key = '' } = await control(`/channels/${id}/stream-key/rotate`, {})
      await publishers.add(rtmpPort, stream_key)
      return login
    }
    return { strand, publishers, empty: memoryOf(strand.pid).own, publish }
  }
  return {
    name,
    block: 'watched',
    seconds: () => seconds,
    run: async bench => {
      const broadcasts = await start(bench)
      const results = await run(broadcasts)
      broadcasts.publishers.stop()
      await broadcasts.strand.stop()
      return results
    },
  }
}

/** The share of a core that the server takes from now on, in percent, and the most private memory. */
async function watchServer({ pid }: Served) {
  const peak = new PeakMemory(pid)
  const [before, began] = [processorSecondsOf(pid), performance.now()]
  await Bun.sleep(SECONDS * 1000)
  const share = (100 * (processorSecondsOf(pid) - before) * 1000) / (performance.now() - began)
  return { share, megabytes: peak.end() }
}

/** One broadcast that many watch. */
export const watched = videoMeasure('watched', WATCHED_MEGABITS, 45, async ({ strand, publish }) => {
  const viewers = await HlsViewers.open(strand.url, await publish())
  await Bun.sleep(5000)
  const alone = memoryOf(strand.pid).own
  for (let count = 0; count < VIEWERS; count++) await viewers.add()
  await Bun.sleep(WARM_UP_MILLISECONDS)
  const [before, began] = [{ ...viewers.total }, performance.now()]
  const { share, megabytes } = await watchServer(strand)
  const [{ bytes, requests, failed }, seconds] = [viewers.total, (performance.now() - began) / 1000]
  viewers.stop()
  const megabits = ((bytes - before.bytes) * 8) / MEGABIT / seconds / VIEWERS
  const perSecond = (requests - before.requests) / seconds
  const work = `${VIEWERS} viewers of a broadcast of ${WATCHED_MEGABITS} Mbit/s`
  const details = `each got ${megabits.toFixed(1)} Mbit/s; ${whole(perSecond)} requests/s, ${failed} failed; memory +${whole(megabytes - alone)} MB`
  return [{ work, value: share, unit: '% of a core', atMost: 40, details }]
})

/** Broadcasts without viewers, and the same ones while their playlists are asked for. */
export const packaged = videoMeasure(
  'packaged',
  WATCHED_MEGABITS,
  90,
  async ({ strand, empty, publish }): Promise<Result[]> => {
    const logins: string[] = []
    for (let count = 0; count < PACKAGED; count++) logins.push(await publish())
    await Bun.sleep(WARM_UP_MILLISECONDS)
    const idle = await watchServer(strand)
    for (const login of logins) await HlsViewers.open(strand.url, login)
    // Until windows are full: what they list, and what has left them.
    await Bun.sleep(4 * WARM_UP_MILLISECONDS)
    const busy = await watchServer(strand)
    const work = `A broadcast of ${WATCHED_MEGABITS} Mbit/s`
    const [packaging, kept, full] = [busy.share - idle.share, idle.megabytes - empty, busy.megabytes - empty]
    const details = `${PACKAGED} of them: ${busy.share.toFixed(1)} % packaged, ${idle.share.toFixed(1)} % only received`
    return [
      { work: `${work}, packaging`, value: packaging / PACKAGED, unit: '% of a core', atMost: 1, details },
      { work: `${work}: memory, packaged`, value: full / PACKAGED, unit: 'MB', atMost: 48 },
      { work: `${work}: memory, without viewers`, value: kept / PACKAGED, unit: 'MB', atMost: 8 },
    ]
  },
)

/** Broadcasts without viewers that are not recorded. */
export const published = videoMeasure('published', 1, 45, async ({ strand, publishers, empty, publish }) => {
  for (let count = 0; count < PUBLISHERS; count++) await publish()
  await Bun.sleep(WARM_UP_MILLISECONDS)
  const { share, megabytes } = await watchServer(strand)
  const details = `${publishers.lost} lost; memory +${whole(megabytes - empty)} MB`
  return [
    { work: `${PUBLISHERS} publishers of 1 Mbit/s`, value: share, unit: '% of a core', atMost: 60, details },
  ]
})
