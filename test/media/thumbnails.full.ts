/** Thumbnails with the real ffmpeg as encoder and decoder. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodePng } from '../images/decode-png.ts'
import { StrandProcess } from '../support/cli/strand-process.ts'
import { AVC } from '../support/media/codecs.ts'
import { Encoders, hasEncoder } from '../support/media/encoder.ts'
import { RtmpClient } from '../support/media/rtmp-client.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { scrape } from '../support/server/scrape.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'

const config = {
  rtmpListen: { host: '127.0.0.1', port: 0 },
  record: true,
  thumbnails: true,
  reconnectGraceSeconds: 1,
}
const { TEST_FFMPEG = '' } = process.env

/** Asks until the answer is as expected; the time limit is that of the test. */
async function until<T>(ask: () => Promise<T>, isRight: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await ask()
    if (isRight(value)) return value
    await Bun.sleep(50)
  }
}

/** The size of a picture, and the colour in its middle. */
async function look(jpeg: Uint8Array): Promise<{ size: string; colour: number[] }> {
  const words = [
    '-loglevel',
    'info',
    '-i',
    'pipe:0',
    '-vf',
    'crop=2:2',
    '-f',
    'rawvideo',
    '-pix_fmt',
    'rgb24',
  ]
  const child = Bun.spawn([TEST_FFMPEG, '-hide_banner', ...words, 'pipe:1'], {
    stdin: Buffer.from(jpeg),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [pixels, report] = await Promise.all([
    new Response(child.stdout).bytes(),
    new Response(child.stderr).text(),
  ])
  const [, size = report] = /Video: mjpeg.*? (\d+x\d+)/.exec(report) ?? []
  return { size, colour: [...pixels.subarray(0, 3)] }
}

/** What this process has started and not yet cleared away, zombies included. */
function ffmpegChildren(): string[] {
  return readdirSync('/proc')
    .filter(name => /^[0-9]+$/.test(name))
    .flatMap(pid => {
      try {
        return [readFileSync(`/proc/${pid}/stat`, 'utf8')]
      } catch {
        return []
      }
    })
    .filter(stat => new RegExp(`^[0-9]+ \\(ffmpeg\\) . ${process.pid} `).test(stat))
}

const untilNoFfmpeg = () =>
  until(
    async () => ffmpegChildren(),
    children => children.length === 0,
  )

const keyOf = async ({ url }: TestServer, { id, token }: { id: string; token: string }): Promise<string> => {
  const response = await fetch(`${url}/helix/streams/key?broadcaster_id=${id}`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  return ((await response.json()) as { data: { stream_key: string }[] }).data[0]?.stream_key ?? ''
}

describe.skipIf(!hasEncoder)('with ffmpeg', () => {
  const red = new Encoders('color=red:size=320x240:rate=5')
  beforeAll(() => red.prepare())
  afterAll(() => red.remove())

  onEachStore('thumbnails', { config }, current => {
    const picture = (kind: 'channels' | 'videos', id: string, size = '{width}x{height}') =>
      fetch(`${current().url}/images/${kind}/${id}-${size}.png`)
    const typeOf = ({ headers }: Response) => headers.get('content-type')

    test('a red broadcast has a red thumbnail in three sizes while it is live; its video keeps one', async () => {
      const server = current()
      const { id, token } = server.world.offline
      expect(typeOf(await picture('channels', id))).toBe('image/png')
      const key = await keyOf(server, { id, token })
      const encoder = red.publish(`rtmp://127.0.0.1:${server.strand.rtmpPort}/live/${key}`)
      const shown = await until(
        () => picture('channels', id),
        answer => typeOf(answer) === 'image/jpeg',
      )
      expect(shown.headers.get('cache-control')).toBe('public, max-age=30')
      const isRed = ([r = 0, g = 0, b = 0]: number[]) => r > 230 && g < 25 && b < 25
      for (const [asked, size] of [
        ['320x180', '320x180'],
        ['440x248', '640x360'],
        ['1920x1080', '1280x720'],
      ] as const) {
        const seen = await look(await (await picture('channels', id, asked)).bytes())
        expect({ ...seen, colour: isRed(seen.colour) }).toEqual({ size, colour: true })
      }
      const etag = shown.headers.get('etag') ?? ''
      const again = await fetch(shown.url, { headers: { 'If-None-Match': etag } })
      expect(again.status).toBe(304)
      const videos = await fetch(`${server.url}/helix/videos?user_id=${id}`, {
        headers: { Authorization: `Bearer ${token}` },
      })
      const [video] = ((await videos.json()) as { data: { id: string; thumbnail_url: string }[] }).data
      const ofVideo = await until(
        () => fetch(video?.thumbnail_url ?? ''),
        answer => typeOf(answer) === 'image/jpeg',
      )
      const kept = await look(await ofVideo.bytes())
      expect({ ...kept, colour: isRed(kept.colour) }).toEqual({ size: '640x360', colour: true })
      encoder.kill('SIGKILL')
      await until(
        () => picture('channels', id),
        answer => typeOf(answer) === 'image/png',
      )
      expect(typeOf(await fetch(video?.thumbnail_url ?? ''))).toBe('image/jpeg')
      expect(server.logLines.join('')).not.toContain(key)
      await untilNoFfmpeg()
    })

    test('hostile video leaves the drawn picture and no process', async () => {
      const server = current()
      const login = 'hostile'
      const [{ id }] = await server.control('POST', '/users', { login })
      const [{ stream_key: key }] = await server.control('POST', `/channels/${id}/stream-key/rotate`, {})
      const client = await RtmpClient.connect(server.strand.rtmpPort ?? 0)
      expect(await client.publish(key)).toBe('NetStream.Publish.Start')
      const thumbnailFailures = () =>
        server.logLines.filter(line => line.includes(id) && line.includes('making a thumbnail failed'))
      // A picture of this size whose first number never ends.
      const frame = AVC.keyFrame(200_000)
      frame.fill(0, frame.length - 199_999)
      client.video(0, AVC.header)
      client.video(0, frame)
      await until(
        async () => thumbnailFailures().length,
        count => count > 0,
      )
      const { series } = await scrape(server.strand.controlUrl.replace('/control', ''))
      expect(series.get('strand_media_thumbnails_total{result="failed"}')).toBeGreaterThan(0)
      const answer = await picture('channels', id, '64x36')
      expect(decodePng(await answer.bytes())).toMatchObject({ width: 64, height: 36 })
      await untilNoFfmpeg()
      const logged = thumbnailFailures()
      expect(logged).toHaveLength(1)
      expect(JSON.parse(logged[0] ?? '{}').reason.length).toBeLessThanOrEqual(200)
      client.close()
    })
  })
})

describe.skipIf(!hasEncoder)('a broadcast without viewers that is not recorded', () => {
  const blue = new Encoders('color=blue:size=320x240:rate=5')
  beforeAll(() => blue.prepare())
  afterAll(() => blue.remove())

  test('has a thumbnail', async () => {
    const server = await startTestServer('sqlite', { config: { ...config, record: false } })
    const { offline } = server.world
    const key = await keyOf(server, offline)
    blue.publish(`rtmp://127.0.0.1:${server.strand.rtmpPort}/live/${key}`)
    const shown = await until(
      () => fetch(`${server.url}/images/channels/${offline.id}-320x180.png`),
      answer => answer.headers.get('content-type') === 'image/jpeg',
    )
    const { size, colour } = await look(await shown.bytes())
    const [red = 255, green = 255, b = 0] = colour
    expect([size, red < 25, green < 25, b > 230]).toEqual(['320x180', true, true, true])
    await blue.remove()
    await server.stop()
  })
})

describe('without ffmpeg on the PATH', () => {
  const folder = mkdtempSync(join(tmpdir(), 'strand-no-ffmpeg-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('a live channel has its drawn picture, and one line in the log explains it', async () => {
    const [port, rtmpPort] = [await freePort(), await freePort()]
    const settings = {
      STRAND_DATA: join(folder, 'data'),
      STRAND_LISTEN: `127.0.0.1:${port}`,
      STRAND_RTMP_LISTEN: `127.0.0.1:${rtmpPort}`,
      STRAND_LOG_FORMAT: 'json',
    }
    const strand = await new StrandProcess(['serve'], {
      environment: { ...settings, PATH: folder },
    }).serving()
    try {
      const token = readFileSync(join(folder, 'data', 'operator-token'), 'utf8').trim()
      const control = async (path: string, body: object) => {
        const answer = await fetch(`http://127.0.0.1:${port}/control${path}`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${token}` },
          body: JSON.stringify(body),
        })
        return ((await answer.json()) as { data: { id: string; stream_key: string }[] }).data[0]
      }
      const id = (await control('/users', { login: 'quiet' }))?.id ?? ''
      const key = (await control(`/channels/${id}/stream-key/rotate`, {}))?.stream_key ?? ''
      const client = await RtmpClient.connect(rtmpPort)
      expect(await client.publish(key)).toBe('NetStream.Publish.Start')
      client.video(0, Buffer.from([0x17, 0, 0, 0, 0, 1, 2, 3]))
      client.video(0, Buffer.from([0x17, 1, 0, 0, 0, 1, 2, 3]))
      const answer = await fetch(`http://127.0.0.1:${port}/images/channels/${id}-64x36.png`)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
      client.close()
      expect(strand.stderr).toContain(`"rtmp_url":"rtmp://127.0.0.1:${rtmpPort}/live"`)
      expect(strand.stderr.split('ffmpeg is not on the PATH')).toHaveLength(2)
      expect(existsSync(join(folder, 'data', 'recordings'))).toBe(false)
    } finally {
      await strand.end('SIGTERM')
    }
  })
})
