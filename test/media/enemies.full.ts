/** A real server among enemies: 10,000 idle connections, and a publisher that sends as fast as it can. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'
import { AVC } from '../support/media/codecs.ts'
import { ATTACKS, closedAfter, INCOMPLETE, Witness } from '../support/media/rtmp-attacks.ts'
import { RtmpClient } from '../support/media/rtmp-client.ts'
import { scrape } from '../support/server/scrape.ts'
import { createStorePlace, type StorePlace } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'

const TOKEN = 'an-operator-token-for-these-tests'
const MEBIBYTE = 1024 * 1024
const GIGABYTE = 1e9
const IDLE = 10_000
const DEADLINE_MILLISECONDS = 10_000
const FLOOD_SECONDS = 6
/** What is read of a publisher: at once, and then in a second. */
const [BURST_BYTES, BYTES_PER_SECOND] = [8.4e6, 12.5e6]
const MAX_PAUSE_MILLISECONDS = 5000

let place: StorePlace
let strand: StrandProcess
let port = 0
let rtmpPort = 0
const url = () => `http://127.0.0.1:${port}`

beforeAll(async () => {
  place = await createStorePlace('sqlite')
  ;[port, rtmpPort] = [await freePort(), await freePort()]
  const environment = {
    STRAND_DATA: place.folder,
    STRAND_OPERATOR_TOKEN: TOKEN,
    STRAND_LISTEN: `127.0.0.1:${port}`,
    STRAND_RTMP_LISTEN: `127.0.0.1:${rtmpPort}`,
    STRAND_RECORD: 'on',
    STRAND_RECORD_MIB: '16',
  }
  strand = await new StrandProcess(['serve'], { environment }).serving()
})
afterAll(async () => {
  await endAllProcesses()
  await place.remove()
})

async function control(method: string, path: string, body: object): Promise<Record<string, string>> {
  const response = await fetch(`${url()}/control${path}`, {
    method,
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
  return ((await response.json()) as { data: Record<string, string>[] }).data[0] ?? {}
}

async function newChannel(login: string): Promise<{ login: string; key: string }> {
  const { id } = await control('POST', '/users', { login })
  const { stream_key: key = '' } = await control('POST', `/channels/${id}/stream-key/rotate`, {})
  return { login, key }
}

const witness = async (login: string) =>
  Witness.start({ rtmpPort, url: url(), localAddress: '127.9.9.9', ...(await newChannel(login)) })

/** What the server has in memory, in bytes. */
function residentBytes(): number {
  const [, kilobytes = '0'] =
    /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${strand.pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

/** Opens connections that do nothing. Resolves when all are open, with a promise of their end. */
async function openIdle(): Promise<{ allClosed: Promise<void> }> {
  const file = join(import.meta.dir, '../support/media/idle-connections.ts')
  const [opened, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const enemy = Bun.spawn([process.execPath, file, String(rtmpPort), String(IDLE)], {
    stdout: 'ignore',
    stderr: 'inherit',
    ipc: message => (message === 'open' ? opened : closed).resolve(),
    onExit: () => {
      for (const each of [opened, closed])
        each.reject(new Error('the process of the idle connections has ended'))
    },
  })
  await opened.promise
  return { allClosed: closed.promise.then(() => enemy.kill()) }
}

test('10,000 idle connections beside attacks: closed, memory bounded, and others publish and watch undisturbed', async () => {
  const broadcast = await witness('beside_idle')
  const { key } = await newChannel('honest')
  const before = residentBytes()
  let highest = 0
  const watched = setInterval(() => {
    highest = Math.max(highest, residentBytes())
  }, 50)
  const { allClosed } = await openIdle()
  const attacks = Promise.all(
    Object.values(ATTACKS).map((bytes, index) => closedAfter(rtmpPort, bytes, `127.6.0.${index + 1}`)),
  )
  const encoder = await RtmpClient.connect(rtmpPort, '127.9.9.7')
  expect(await encoder.publish(key)).toBe('NetStream.Publish.Start')
  encoder.close()
  expect(Math.max(...(await attacks))).toBeLessThan(DEADLINE_MILLISECONDS - 1000)
  await allClosed
  clearInterval(watched)
  expect(highest - before).toBeLessThan(100 * MEBIBYTE)
  const { missing, longestPause } = await broadcast.finish()
  expect(missing).toEqual([])
  expect(longestPause).toBeLessThan(MAX_PAUSE_MILLISECONDS)
})

test('a publisher that sends a gigabyte at once: slowed, memory bounded, others undisturbed', async () => {
  const incomplete = Promise.all(
    Object.values(INCOMPLETE).map((bytes, index) => closedAfter(rtmpPort, bytes, `127.7.0.${index + 1}`)),
  )
  const broadcast = await witness('beside_flood')
  const { key } = await newChannel('flood')
  const received = async () => (await scrape(url())).series.get('strand_media_received_bytes_total') ?? 0
  const flood = await RtmpClient.connect(rtmpPort, '127.9.9.6')
  expect(await flood.publish(key)).toBe('NetStream.Publish.Start')
  flood.video(0, AVC.header)
  flood.video(0, AVC.keyFrame())
  const [before, began, bytesBefore] = [residentBytes(), performance.now(), await received()]
  const frame = AVC.keyFrame(MEBIBYTE)
  let sent = 0
  let highest = 0
  while (performance.now() - began < FLOOD_SECONDS * 1000) {
    if (sent < GIGABYTE && flood.waitingBytes < 16 * MEBIBYTE) {
      flood.video(sent / MEBIBYTE, frame)
      sent += frame.length
    } else await Bun.sleep(5)
    highest = Math.max(highest, residentBytes())
  }
  const seconds = (performance.now() - began) / 1000
  const taken = (await received()) - bytesBefore
  expect(taken).toBeGreaterThan(BURST_BYTES / 2)
  expect(taken).toBeLessThan(BURST_BYTES + BYTES_PER_SECOND * (seconds + 1) + 5 * MEBIBYTE)
  expect(flood.isClosed).toBe(false)
  expect(highest - before).toBeLessThan(300 * MEBIBYTE)
  flood.close()
  const { missing, longestPause } = await broadcast.finish()
  expect(missing).toEqual([])
  expect(longestPause).toBeLessThan(MAX_PAUSE_MILLISECONDS)
  // Connections that do not publish are closed at their deadline, also on a busy server.
  const took = await incomplete
  expect(Math.min(...took)).toBeGreaterThan(DEADLINE_MILLISECONDS - 200)
  expect(Math.max(...took)).toBeLessThan(DEADLINE_MILLISECONDS + 5000)
})
