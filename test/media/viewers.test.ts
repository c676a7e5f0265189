/** Viewers over real connections, of which one does not read. */
import { expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { TAG_BYTES } from '../../src/media/flv.ts'
import { AVC, RtmpClient } from '../support/media/rtmp-client.ts'
import { onEachStore } from '../support/server/each-store.ts'

const FRAME_BYTES = 100_000
const GROUP = 10
/** More than the connection of a viewer that does not read takes, and than what may wait for it. */
const FRAMES = 300
const LAST = FRAMES + GROUP

/** The timestamps of the pictures in a response, whose body is in chunks. */
function picturesIn(response: Buffer): number[] {
  const body: Buffer[] = []
  for (let at = response.indexOf('\r\n\r\n') + 4; at > 0; ) {
    const end = response.indexOf('\r\n', at)
    const size = Number.parseInt(response.toString('latin1', at, end), 16)
    if (end < 0 || end + 2 + size > response.length) break
    body.push(response.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
  const file = Buffer.concat(body)
  const times: number[] = []
  for (let at = 13; at + TAG_BYTES <= file.length; at += TAG_BYTES + file.readUIntBE(at + 1, 3))
    if (file.readUIntBE(at + 1, 3) >= FRAME_BYTES) times.push(file.readUIntBE(at + 4, 3))
  return times
}

class RawViewer {
  readonly #socket: Socket
  readonly #received: Buffer[] = []
  bytes = 0

  constructor(url: URL) {
    this.#socket = connect(Number(url.port), url.hostname)
    this.#socket.write(`GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`)
    this.#socket.on('data', (bytes: Buffer) => {
      this.#received.push(bytes)
      this.bytes += bytes.length
    })
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  close(): void {
    this.#socket.destroy()
  }

  pictures(): number[] {
    return picturesIn(Buffer.concat(this.#received))
  }

  /** The pictures, as soon as this one is among them; the time limit is that of the test. */
  async until(timestamp: number): Promise<number[]> {
    for (;;) {
      const pictures = this.pictures()
      if (pictures.includes(timestamp)) return pictures
      await Bun.sleep(50)
    }
  }
}

onEachStore('viewers', { config: { rtmpListen: { host: '127.0.0.1', port: 0 } } }, current => {
  test('one that does not read is skipped forward to a key frame, and the other gets every frame', async () => {
    const { world, url, strand, control } = current()
    const { id } = world.offline
    const [{ stream_key }] = await control('POST', `/channels/${id}/stream-key/rotate`, {})
    const login = world.users.find(user => user.id === id)?.login
    const encoder = await RtmpClient.connect(strand.rtmpPort ?? 0)
    expect(await encoder.publish(stream_key)).toBe('NetStream.Publish.Start')
    const send = (timestamp: number) =>
      encoder.video(timestamp, timestamp % GROUP === 0 ? AVC.keyFrame(FRAME_BYTES) : AVC.frame(FRAME_BYTES))
    encoder.video(0, AVC.header)
    send(0)
    const live = new URL(`/live/${login}.flv`, url)
    while (!(await fetch(live, { method: 'HEAD' })).ok) await Bun.sleep(10)
    const [slow, fast] = [new RawViewer(live), new RawViewer(live)]
    await Promise.all([slow.until(0), fast.until(0)])
    slow.pause()
    for (let timestamp = 1; timestamp < FRAMES; timestamp++) {
      send(timestamp)
      // At the pace of the one that reads.
      while (fast.bytes < (timestamp - GROUP) * FRAME_BYTES) await Bun.sleep(1)
    }
    const all = Array.from({ length: FRAMES }, (_, timestamp) => timestamp)
    expect(await fast.until(FRAMES - 1)).toEqual(all)
    slow.resume()
    for (let timestamp = FRAMES; timestamp <= LAST; timestamp++) {
      send(timestamp)
      await Bun.sleep(20)
    }
    const seen = await slow.until(LAST)
    const jumps = seen.filter((timestamp, index) => index > 0 && timestamp !== (seen[index - 1] ?? 0) + 1)
    expect(jumps.length).toBeGreaterThan(0)
    for (const timestamp of jumps) expect(timestamp % GROUP).toBe(0)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(Number(/^strand_media_skips_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0)
    for (const each of [slow, fast, encoder]) each.close()
  })
})
