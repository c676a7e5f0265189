/**
 * What encoders publish, as readers that we did not write find it in the segments: ffmpeg decodes it without a word, and every
 * sample has the time that it had at its source, video exactly and audio within a millisecond.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import { enhancedVideo } from '../support/media/codecs.ts'
import { hasEncoder, hasProbe } from '../support/media/encoder.ts'
import { HlsPlayer } from '../support/media/hls.ts'
import { RtmpClient } from '../support/media/rtmp-client.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const { TEST_FFMPEG = '', TEST_FFPROBE = '' } = process.env
const folder = mkdtempSync(join(tmpdir(), 'strand-formats-'))
let server: TestServer
beforeAll(async () => {
  server = await startTestServer('sqlite', { config: { rtmpListen: { host: '127.0.0.1', port: 0 } } })
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

async function run(program: string, words: readonly string[]): Promise<{ output: string; errors: string }> {
  const child = Bun.spawn([program, ...words], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { output, errors: child.exitCode === 0 ? errors : `${errors}\nended with ${child.exitCode}` }
}

const SECONDS = 9
/** Makes a source file; the words are separated by spaces. */
async function source(name: string, words: string): Promise<string> {
  const file = join(folder, name)
  const { errors } = await run(TEST_FFMPEG, [
    '-y',
    '-loglevel',
    'error',
    ...words.split(' '),
    '-t',
    String(SECONDS),
    file,
  ])
  // Encoders write about themselves, whatever the level.
  if (/Error|Invalid|ended with/.test(errors)) throw new Error(errors)
  return file
}

interface Times {
  /** Decode and display times of video, in milliseconds. */
  readonly video: (readonly [number, number])[]
  readonly audio: number[]
}

async function times(file: string): Promise<Times> {
  const words = '-loglevel error -show_entries packet=codec_type,pts_time,dts_time -of csv=p=0'
  const { output } = await run(TEST_FFPROBE, [...words.split(' '), file])
  const rows = output
    .trim()
    .split('\n')
    .map(line => line.split(','))
  const milliseconds = (text = '') => Math.round(Number(text) * 1000 * 1000) / 1000
  return {
    video: rows.flatMap(([kind, pts, dts]) =>
      kind === 'video' ? [[milliseconds(dts), milliseconds(pts)] as const] : [],
    ),
    audio: rows.flatMap(([kind, pts]) => (kind === 'audio' ? [milliseconds(pts)] : [])),
  }
}

let channels = 0
async function newChannel(): Promise<{ login: string; key: string }> {
  channels += 1
  const login = `format_${channels}`
  const [{ id }] = await server.control('POST', '/users', { login })
  const [{ stream_key: key }] = await server.control('POST', `/channels/${id}/stream-key/rotate`, {})
  return { login, key }
}

/** Everything that a player gets until the broadcast ends, as files: a new one begins with each discontinuity. */
async function watch(
  login: string,
  begin: (opened: Promise<void>) => Promise<unknown>,
): Promise<{ files: string[]; playlist: string }> {
  const opened = Promise.withResolvers<void>()
  const play = async () => {
    const player = await HlsPlayer.open(server.url, login)
    opened.resolve()
    const files: Uint8Array[][] = []
    let last: number | undefined
    for await (const segment of player.segments()) {
      if (segment.discontinuities !== last) files.push([await player.bytes(segment.init)])
      last = segment.discontinuities
      files.at(-1)?.push(segment.bytes)
    }
    return { player, files }
  }
  const [{ player, files }] = await Promise.all([play(), begin(opened.promise)])
  const { text } = await player.playlist()
  const names = files.map((pieces, index) => {
    const name = join(folder, `${login}-${index}.mp4`)
    writeFileSync(name, Buffer.concat(pieces))
    return name
  })
  return { files: names, playlist: text }
}

async function expectDecodable(file: string): Promise<void> {
  const { errors } = await run(TEST_FFMPEG, ['-v', 'error', '-xerror', '-i', file, '-f', 'null', '-'])
  expect(errors).toBe('')
}

/** The samples of a file are those of the source, from somewhere on. */
async function expectSameTimes(file: string, published: string, { shift = 0 } = {}): Promise<void> {
  const [found, expected] = [await times(file), await times(published)]
  const skipped = expected.video.length - found.video.length
  expect(skipped).toBeWithin(0, expected.video.length / 2 + 1)
  expect(found.video).toEqual(
    expected.video.slice(skipped).map(([dts, pts]) => [dts + shift, pts + shift] as const),
  )
  const [firstSound = 0] = found.audio
  const from = expected.audio.findIndex(time => Math.abs(time + shift - firstSound) <= 1)
  expect(found.audio.length).toBeGreaterThanOrEqual(expected.audio.length - from - 1)
  const off = found.audio.map((time, index) => Math.abs(time - shift - (expected.audio[from + index] ?? 0)))
  expect(Math.max(0, ...off)).toBeLessThanOrEqual(1)
}

const testIf = test.if(hasEncoder && hasProbe)
const VIDEO = (rate: number) => `-f lavfi -i testsrc=size=320x180:rate=${rate}`
const SOUND = (rate: number) => `-f lavfi -i sine=r=${rate}`
const X264 = '-c:v libx264 -pix_fmt yuv420p -preset ultrafast'

describe('ffmpeg publishes', () => {
  const formats = {
    'without B-frames, key frames every 2 s, 44.1 kHz': `${VIDEO(30)} ${SOUND(44_100)} ${X264} -tune zerolatency -g 60 -c:a aac`,
    'with B-frames, 48 kHz': `${VIDEO(25)} ${SOUND(48_000)} -c:v libx264 -pix_fmt yuv420p -preset veryfast -bf 3 -g 50 -c:a aac`,
    'video only at 29.97 a second': `${VIDEO(30_000 / 1001)} ${X264} -g 60`,
    'audio only': `${SOUND(48_000)} -c:a aac`,
    MP3: `${VIDEO(30)} ${SOUND(44_100)} ${X264} -g 60 -c:a libmp3lame`,
    'key frames 8 s apart': `${VIDEO(30)} ${SOUND(44_100)} ${X264} -bf 2 -g 240 -sc_threshold 0 -c:a aac`,
    'five pictures a second': `${VIDEO(5)} ${SOUND(44_100)} ${X264} -g 10 -c:a aac`,
    'sixty pictures a second': `${VIDEO(60)} ${SOUND(48_000)} ${X264} -bf 2 -g 60 -c:a aac`,
  }
  for (const [name, words] of Object.entries(formats))
    testIf(
      name,
      async () => {
        const { login, key } = await newChannel()
        const file = await source(`${login}.flv`, words)
        const url = `rtmp://127.0.0.1:${server.strand.rtmpPort}/live/${key}`
        const { files } = await watch(login, () =>
          run(TEST_FFMPEG, ['-loglevel', 'error', '-re', '-i', file, '-c', 'copy', '-f', 'flv', url]),
        )
        expect(files).toHaveLength(1)
        const [played = ''] = files
        await expectDecodable(played)
        await expectSameTimes(played, file)
      },
      60_000,
    )

  testIf(
    'and ffmpeg plays the live playlist without a word',
    async () => {
      const { login, key } = await newChannel()
      const words = `${VIDEO(30)} ${SOUND(44_100)} ${X264} -bf 2 -g 60 -c:a aac`
      const file = await source(`${login}.flv`, words)
      const url = `rtmp://127.0.0.1:${server.strand.rtmpPort}/live/${key}`
      const publishing = run(TEST_FFMPEG, [
        '-loglevel',
        'error',
        '-re',
        '-i',
        file,
        '-c',
        'copy',
        '-f',
        'flv',
        url,
      ])
      await HlsPlayer.open(server.url, login).then(player => player.playlist())
      const { errors } = await run(TEST_FFMPEG, [
        '-v',
        'error',
        '-xerror',
        '-i',
        `${server.url}/live/${login}.m3u8`,
        '-f',
        'null',
        '-',
      ])
      expect(errors).toBe('')
      await publishing
    },
    60_000,
  )
})

/** The content of the box that describes the decoder. */
async function configurationIn(file: string): Promise<Buffer> {
  const bytes = Buffer.from(await Bun.file(file).arrayBuffer())
  const at = ['avcC', 'hvcC', 'av1C'].map(name => bytes.indexOf(name)).find(each => each > 0) ?? 0
  return bytes.subarray(at + 4, at - 4 + bytes.readUInt32BE(at - 4))
}

/** Pictures that are sent before a player has opened the channel: less than the first segment. */
const FIRST = 30

/** Sends a file as its messages, at once. Its pictures are in the order in which they are shown. */
async function publishFile(
  client: RtmpClient,
  opened: Promise<void>,
  file: string,
  name: 'hvc1' | 'av01' | 'avc1',
  shift = 0,
): Promise<void> {
  const input = new Input({
    source: new BufferSource(await Bun.file(file).arrayBuffer()),
    formats: ALL_FORMATS,
  })
  const track = assertDefined((await input.getVideoTracks())[0], 'a video track')
  client.video(shift >>> 0, enhancedVideo(name, 'config', await configurationIn(file)))
  const sink = new EncodedPacketSink(track)
  let count = 0
  for (let packet = await sink.getFirstPacket(); packet !== null; packet = await sink.getNextPacket(packet)) {
    count += 1
    if (count === FIRST) await opened
    const role = packet.type === 'key' ? 'key frame' : 'frame'
    const time = Math.round(packet.timestamp * 1000) + shift
    client.video(time >>> 0, enhancedVideo(name, role, packet.data))
  }
}

const PLAIN = {
  avc1: '-c:v libx264 -pix_fmt yuv420p -preset ultrafast -bf 0 -g 50',
  hvc1: '-c:v libx265 -pix_fmt yuv420p -preset ultrafast -x265-params bframes=0:keyint=50:min-keyint=50:log-level=none -tag:v hvc1',
  av01: '-c:v libaom-av1 -pix_fmt yuv420p -cpu-used 8 -usage realtime -lag-in-frames 0 -g 50',
} as const
const clip = (name: keyof typeof PLAIN, size = '160x90') =>
  source(`${name}-${size}.mp4`, `-f lavfi -i testsrc=size=${size}:rate=25 ${PLAIN[name]}`)

describe('with an enhanced header', () => {
  const publish = async (send: (client: RtmpClient, opened: Promise<void>) => Promise<void>) => {
    const { login, key } = await newChannel()
    return watch(login, async opened => {
      const client = await RtmpClient.connect(server.strand.rtmpPort ?? 0)
      expect(await client.publish(key)).toBe('NetStream.Publish.Start')
      await send(client, opened)
      client.command(1, 'FCUnpublish', 5, null)
    })
  }

  for (const name of ['hvc1', 'av01'] as const)
    testIf(
      `${name === 'hvc1' ? 'HEVC' : 'AV1'} plays`,
      async () => {
        const file = await clip(name)
        const { files } = await publish((client, opened) => publishFile(client, opened, file, name))
        const [played = ''] = files
        await expectDecodable(played)
        await expectSameTimes(played, file)
      },
      120_000,
    )

  testIf(
    'a change of size and of codec has a discontinuity, and both sides play',
    async () => {
      const parts = [await clip('avc1'), await clip('avc1', '320x180'), await clip('hvc1')] as const
      const { files, playlist } = await publish(async (client, opened) => {
        await publishFile(client, opened, parts[0], 'avc1')
        await publishFile(client, opened, parts[1], 'avc1', SECONDS * 1000)
        await publishFile(client, opened, parts[2], 'hvc1', 2 * SECONDS * 1000)
      })
      expect(files.length).toBeGreaterThanOrEqual(2)
      expect(playlist).toContain('#EXT-X-DISCONTINUITY')
      for (const file of files) await expectDecodable(file)
      await expectSameTimes(files.at(-1) ?? '', parts[2], { shift: 2 * SECONDS * 1000 })
    },
    120_000,
  )

  testIf(
    'timestamps that wrap go on; those that jump or go back have a discontinuity, and all of it plays',
    async () => {
      const file = await clip('avc1')
      const start = 2 ** 32 - 3000
      const wrapped = await publish((client, opened) => publishFile(client, opened, file, 'avc1', start))
      expect(wrapped.files).toHaveLength(1)
      await expectDecodable(wrapped.files[0] ?? '')
      await expectSameTimes(wrapped.files[0] ?? '', file, { shift: start })
      const jumped = await publish(async (client, opened) => {
        await publishFile(client, opened, file, 'avc1', 50_000)
        await publishFile(client, opened, file, 'avc1', 2_000_000)
        await publishFile(client, opened, file, 'avc1', 1000)
      })
      for (const each of jumped.files) await expectDecodable(each)
      expect(jumped.files.length).toBeGreaterThanOrEqual(2)
      await expectSameTimes(jumped.files.at(-1) ?? '', file, { shift: 1000 })
    },
    120_000,
  )
})
