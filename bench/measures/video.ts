/**
 * Broadcasts on the embedded media server: what viewers, packaging and publishers cost it. Processor time is that of the
 * server, so other work on the machine does not count, as long as everything arrives in time.
 */

import { freePort } from '../../test/support/store/postgres.ts'
import type { Bench, Measure, Result } from '../bench.ts'
import { HlsViewers } from '../load/hls-viewers.ts'
import type { Served } from '../load/processes.ts'
import { Publishers } from '../load/publishers.ts'
import { memoryOf, PeakMemory, processorSecondsOf } from '../load/usage.ts'
import { whole } from '../report.ts'
import { SMALLEST } from '../world/world.ts'

const MEGABIT = 1_000_000
const WARM_UP_SECONDS = 8
const SECONDS = 15

interface MediaServer {
  readonly strand: Served
  readonly rtmpPort: number
  newChannel(): Promise<{ login: string; key: string }>
}

async function startMediaServer(bench: Bench, name: string): Promise<MediaServer> {
  const world = await bench.makeWorld(name, SMALLEST)
  const rtmpPort = await freePort()
  const settings = { STRAND_RTMP_LISTEN: `127.0.0.1:${rtmpPort}`, STRAND_MEDIA_THUMBNAILS: 'off' }
  const { secrets } = world
  const strand = await bench.processes.startStrand(world.folder, { secrets, settings })
  const control = async (path: string, body: object): Promise<Record<string, string>> => {
    const answer = await fetch(`${strand.url}/control${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${secrets.operatorToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(await answer.text())
    return ((await answer.json()) as { data: Record<string, string>[] }).data[0] ?? {}
  }
  let channels = 0
  const newChannel = async () => {
    channels += 1
    const login = `broadcast_${channels}`
    const { id } = await control('/users', { login })
    const { stream_key: key = '' } = await control(`/channels/${id}/stream-key/rotate`, {})
    return { login, key }
  }
  return { strand, rtmpPort, newChannel }
}

/** The share of a core that the server takes from now on, in percent. */
async function shareOf({ pid }: Served, seconds: number): Promise<number> {
  const [before, began] = [processorSecondsOf(pid), performance.now()]
  await Bun.sleep(seconds * 1000)
  return (100 * (processorSecondsOf(pid) - before) * 1000) / (performance.now() - began)
}

const VIEWERS = 500
const WATCHED_MEGABITS = 6

/** One broadcast that many watch. */
export const watched: Measure = {
  name: 'watched',
  seconds: () => 15 + WARM_UP_SECONDS + SECONDS,
  run: async bench => {
    const { strand, rtmpPort, newChannel } = await startMediaServer(bench, 'watched')
    const publishers = new Publishers(WATCHED_MEGABITS * MEGABIT)
    const { login, key } = await newChannel()
    await publishers.add(rtmpPort, key)
    const viewers = await HlsViewers.open(strand.url, login)
    await Bun.sleep(5000)
    const alone = memoryOf(strand.pid).own
    const peak = new PeakMemory(strand.pid)
    for (let count = 0; count < VIEWERS; count++) await viewers.add()
    await Bun.sleep(WARM_UP_SECONDS * 1000)
    const [before, began] = [viewers.total, performance.now()]
    const share = await shareOf(strand, SECONDS)
    const [after, seconds] = [viewers.total, (performance.now() - began) / 1000]
    const megabits = ((after.bytes - before.bytes) * 8) / MEGABIT / seconds / VIEWERS
    const requests = (after.requests - before.requests) / seconds
    const megabytes = peak.end() - alone
    viewers.stop()
    publishers.stop()
    await strand.stop()
    return [
      {
        work: `${VIEWERS} viewers of a broadcast of ${WATCHED_MEGABITS} Mbit/s`,
        value: share,
        unit: '% of a core',
        atMost: 40,
        details: `each got ${megabits.toFixed(1)} Mbit/s; ${whole(requests)} requests/s, ${after.failed} failed; memory +${whole(megabytes)} MB`,
      },
    ]
  },
}

const PACKAGED = 20

/** Broadcasts without viewers, and the same ones while their playlists are asked for. */
export const packaged: Measure = {
  name: 'packaged',
  seconds: () => 20 + 2 * (WARM_UP_SECONDS + SECONDS),
  run: async bench => {
    const { strand, rtmpPort, newChannel } = await startMediaServer(bench, 'packaged')
    const publishers = new Publishers(WATCHED_MEGABITS * MEGABIT)
    const empty = memoryOf(strand.pid).own
    const logins: string[] = []
    for (let count = 0; count < PACKAGED; count++) {
      const { login, key } = await newChannel()
      await publishers.add(rtmpPort, key)
      logins.push(login)
    }
    await Bun.sleep(WARM_UP_SECONDS * 1000)
    const idle = await shareOf(strand, SECONDS)
    const kept = memoryOf(strand.pid).own
    for (const login of logins) await HlsViewers.open(strand.url, login)
    // Until windows are full: what they list, and what has left them.
    await Bun.sleep(4 * WARM_UP_SECONDS * 1000)
    const peak = new PeakMemory(strand.pid)
    const busy = await shareOf(strand, SECONDS)
    const full = peak.end()
    publishers.stop()
    await strand.stop()
    const work = `A broadcast of ${WATCHED_MEGABITS} Mbit/s`
    return [
      {
        work: `${work}, packaged: more than one without viewers`,
        value: (busy - idle) / PACKAGED,
        unit: '% of a core',
        atMost: 1,
        details: `${PACKAGED} of them: ${busy.toFixed(1)} % packaged, ${idle.toFixed(1)} % only received`,
      },
      { work: `${work}: memory, packaged`, value: (full - empty) / PACKAGED, unit: 'MB', atMost: 48 },
      { work: `${work}: memory, without viewers`, value: (kept - empty) / PACKAGED, unit: 'MB', atMost: 8 },
    ]
  },
}

const PUBLISHERS = 200

/** Broadcasts without viewers that are not recorded. */
export const published: Measure = {
  name: 'published',
  seconds: () => 20 + WARM_UP_SECONDS + SECONDS,
  run: async bench => {
    const { strand, rtmpPort, newChannel } = await startMediaServer(bench, 'published')
    const publishers = new Publishers(MEGABIT)
    const empty = memoryOf(strand.pid).own
    for (let count = 0; count < PUBLISHERS; count++) await publishers.add(rtmpPort, (await newChannel()).key)
    await Bun.sleep(WARM_UP_SECONDS * 1000)
    const peak = new PeakMemory(strand.pid)
    const share = await shareOf(strand, SECONDS)
    const result: Result = {
      work: `${PUBLISHERS} publishers of 1 Mbit/s`,
      value: share,
      unit: '% of a core',
      atMost: 60,
      details: `${publishers.lost} lost; memory +${whole(peak.end() - empty)} MB`,
    }
    publishers.stop()
    await strand.stop()
    return [result]
  },
}
