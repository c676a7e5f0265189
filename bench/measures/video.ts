/**
 * Broadcasts on the embedded media server: what viewers and publishers cost it. Processor time is that of the server, so
 * other work on the machine does not count, as long as everything arrives in time.
 */
import { freePort } from '../../test/support/store/postgres.ts'
import type { Bench, Measure, Result } from '../bench.ts'
import { ask } from '../load/http.ts'
import type { Served } from '../load/processes.ts'
import { memoryOf, processorSecondsOf } from '../load/usage.ts'
import { HlsViewers, Publishers } from '../load/video.ts'
import { whole } from '../report.ts'
import { SMALLEST } from '../world/world.ts'

const MEGABIT = 1_000_000
const WARM_UP_MILLISECONDS = 8000
const SECONDS = 15
const VIEWERS = 500
const WATCHED_MEGABITS = 6
const PUBLISHERS = 200

/** A server, and publishers of so many megabits per second. */
async function startBroadcasts(bench: Bench, name: string, megabits: number) {
  const world = await bench.makeWorld(name, SMALLEST)
  const rtmpPort = await freePort()
  const settings = { STRAND_RTMP_LISTEN: `127.0.0.1:${rtmpPort}`, STRAND_MEDIA_THUMBNAILS: 'off' }
  const { secrets } = world
  const strand = await bench.processes.startStrand(world.folder, { secrets, settings })
  const publishers = new Publishers(megabits * MEGABIT)
  const control = async (path: string, body: object): Promise<Record<string, string>> => {
    const request = { method: 'POST', path: `/control${path}`, token: secrets.operatorToken, body } as const
    return JSON.parse((await ask(strand, request)).toString()).data[0]
  }
  /** Makes a channel that is live. */
  const publish = async (login: string) => {
    const { id } = await control('/users', { login })
    const { stream_key = '' } = await control(`/channels/${id}/stream-key/rotate`, {})
    await publishers.add(rtmpPort, stream_key)
  }
  const stop = async () => {
    publishers.stop()
    await strand.stop()
  }
  return { strand, publishers, publish, stop }
}

/** The share of a core that the server takes from now on, in percent. */
async function watchServer({ pid }: Served): Promise<number> {
  const [before, began] = [processorSecondsOf(pid), performance.now()]
  await Bun.sleep(SECONDS * 1000)
  return (100 * (processorSecondsOf(pid) - before) * 1000) / (performance.now() - began)
}

/** One broadcast that many watch. */
export const watched: Measure = {
  name: 'watched',
  run: async bench => {
    const { strand, publish, stop } = await startBroadcasts(bench, 'watched', WATCHED_MEGABITS)
    await publish('watched')
    const viewers = await HlsViewers.open(strand.url, 'watched')
    await Bun.sleep(5000)
    const alone = memoryOf(strand.pid).own
    for (let count = 0; count < VIEWERS; count++) await viewers.add()
    await Bun.sleep(WARM_UP_MILLISECONDS)
    const before = { ...viewers.total }
    const share = await watchServer(strand)
    const { bytes, requests, failed } = viewers.total
    const grown = memoryOf(strand.pid).own - alone
    viewers.stop()
    await stop()
    const megabits = ((bytes - before.bytes) * 8) / MEGABIT / SECONDS / VIEWERS
    const perSecond = (requests - before.requests) / SECONDS
    const work = `${VIEWERS} viewers of a broadcast of ${WATCHED_MEGABITS} Mbit/s`
    const details = `each got ${megabits.toFixed(1)} Mbit/s; ${whole(perSecond)} requests/s, ${failed} failed; memory +${whole(grown)} MB`
    return [{ work, value: share, unit: '% of a core', atMost: 40, details }]
  },
}

/** Broadcasts without viewers that are not recorded. */
export const published: Measure = {
  name: 'published',
  run: async (bench): Promise<Result[]> => {
    const { strand, publishers, publish, stop } = await startBroadcasts(bench, 'published', 1)
    const empty = memoryOf(strand.pid).own
    for (let count = 0; count < PUBLISHERS; count++) await publish(`broadcast_${count}`)
    await Bun.sleep(WARM_UP_MILLISECONDS)
    const share = await watchServer(strand)
    const details = `${publishers.lost} lost; memory +${whole(memoryOf(strand.pid).own - empty)} MB`
    await stop()
    const work = `${PUBLISHERS} publishers of 1 Mbit/s`
    return [{ work, value: share, unit: '% of a core', atMost: 60, details }]
  },
}
