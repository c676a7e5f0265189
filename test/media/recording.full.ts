/** Recordings as ffmpeg reads them, long ones, and those of a process that is killed. */
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import { readConfig } from '../../src/media/codec-config.ts'
import { fragment, initSegment } from '../../src/media/hls/fmp4.ts'
import { Recording } from '../../src/media/recording/recording.ts'
import { FILE_START } from '../../src/media/recording/recording-file.ts'
import type { MediaMessage } from '../../src/media/rtmp/publisher.ts'
import { type Environment, StrandProcess } from '../support/cli/strand-process.ts'
import { CONFIGS } from '../support/media/codecs.ts'
import { hasEncoder, hasProbe } from '../support/media/encoder.ts'
import { TestPublisher } from '../support/media/hls.ts'
import { readMp4 } from '../support/media/read-mp4.ts'
import { RecordedPublisher, recordingOptions } from '../support/media/recorder.ts'
import { freePort } from '../support/store/postgres.ts'

const { TEST_FFMPEG = '', TEST_FFPROBE = '', TEST_KILLS = '10' } = process.env
const folder = mkdtempSync(join(tmpdir(), 'strand-recording-'))
afterAll(() => rmSync(folder, { recursive: true }))

const run = (...command: readonly string[]) => {
  const { stdout, stderr, exitCode } = Bun.spawnSync([...command], { stdin: 'ignore' })
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
}

/** A clip as an encoder publishes it. */
function clip(name: string, source: string, ...options: readonly string[]) {
  const file = join(folder, `${name}.flv`)
  const input = ['-f', 'lavfi', '-i', source, '-f', 'lavfi', '-i', 'sine=sample_rate=48000', '-t', '7']
  const codecs = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-g', '50', '-c:a', 'aac']
  expect(run(TEST_FFMPEG, '-v', 'error', ...input, ...codecs, ...options, file).stderr).toBe('')
  const bytes = readFileSync(file)
  const messages: MediaMessage[] = []
  for (let at = 13; at + 11 <= bytes.length; ) {
    const size = bytes.readUIntBE(at + 1, 3)
    const timestamp = bytes.readUIntBE(at + 4, 3) + bytes.readUInt8(at + 7) * 2 ** 24
    const kind = ({ 8: 'audio', 9: 'video' } as const)[bytes.readUInt8(at)] ?? 'metadata'
    messages.push({ kind, timestamp, payload: bytes.subarray(at + 11, at + 11 + size) })
    at += 15 + size
  }
  return { file, messages }
}

/** When each picture is shown and decoded, in seconds, in the order of the file. */
function pictures(file: string): number[][] {
  const words = [
    '-v',
    'error',
    '-select_streams',
    'v',
    '-show_entries',
    'packet=pts_time,dts_time',
    '-of',
    'csv=p=0',
  ]
  return run(TEST_FFPROBE, ...words, file)
    .stdout.split('\n')
    .filter(line => line !== '')
    .map(line => line.split(',').map(Number))
}

const decodingErrors = (file: string) => {
  const { exitCode, stderr } = run(TEST_FFMPEG, '-v', 'error', '-xerror', '-i', file, '-f', 'null', '-')
  return exitCode === 0 ? stderr : `${exitCode} ${stderr}`
}

/** What a playlist lists, a file for each init segment: ffmpeg keeps the first one when it reads a playlist. */
function splitPlaylist(recording: string): string[] {
  const bytes = readFileSync(recording)
  const playlist = readFileSync(Recording.playlistFile(recording), 'utf8')
  return playlist
    .split('#EXT-X-MAP')
    .slice(1)
    .map((text, index) => {
      const ranges = [...text.matchAll(/BYTERANGE[:=]"?([0-9]+)@([0-9]+)/g)].map(([range, size, at]) => ({
        isInit: range.includes('='),
        at: Number(at),
        bytes: bytes.subarray(Number(at), Number(at) + Number(size)),
      }))
      // A gap names the init segment.
      const file = join(folder, `stretch-${index}.mp4`)
      const listed = ranges.filter(({ isInit, at }) => isInit || at !== ranges[0]?.at)
      writeFileSync(file, Buffer.concat(listed.map(range => range.bytes)))
      return file
    })
}

describe.skipIf(!hasEncoder || !hasProbe)('ffmpeg reads', () => {
  const record = async (name: string, ...clips: readonly (readonly MediaMessage[])[]) => {
    const file = join(folder, name)
    const recording = new Recording(recordingOptions(file))
    let position = 0
    for (const messages of clips) {
      const publisher = new RecordedPublisher(recording, position)
      for (const message of messages) {
        publisher.position = position + message.timestamp
        publisher.publish(message)
      }
      publisher.end()
      position += 10_000
    }
    expect(await recording.close()).toBe(true)
    return file
  }

  test.each([
    ['B-frames', ['-bf', '2']],
    ['no B-frames', ['-bf', '0', '-preset', 'ultrafast']],
  ] as const)('a recording with %s: every picture at its time, as MP4 and as HLS', async (name, options) => {
    const { file, messages } = clip(name, 'testsrc2=size=320x240:rate=30', ...options)
    const recorded = await record(`${name === 'B-frames' ? 1 : 2}.mp4`, messages)
    const source = pictures(file)
    expect(source.length).toBeGreaterThan(200)
    for (const read of [recorded, Recording.playlistFile(recorded)]) {
      expect(decodingErrors(read)).toBe('')
      const found = pictures(read)
      expect(found.length).toBe(source.length)
      for (const [index, [shown = 0]] of found.entries())
        expect(Math.abs(shown - (source[index]?.[0] ?? 0))).toBeLessThan(0.0011)
    }
  })

  test('a recording whose size changes after a gap', async () => {
    const small = clip('small', 'testsrc2=size=320x240:rate=30', '-bf', '2')
    const large = clip('large', 'testsrc2=size=640x360:rate=25', '-bf', '2')
    const counts = [small, large].map(({ file }) => pictures(file).length)
    const recorded = await record('3.mp4', small.messages, large.messages)
    expect(decodingErrors(recorded)).toBe('')
    const listed = splitPlaylist(recorded)
    for (const file of listed) expect(decodingErrors(file)).toBe('')
    for (const times of [pictures(recorded), listed.flatMap(pictures)].map(all =>
      all.map(([shown = 0]) => shown),
    )) {
      const before = times.filter(time => time < 9).length
      expect([before, times.length - before]).toEqual(counts)
      expect(Math.min(...times.filter(time => time > 9))).toBeWithin(9.9, 10.2)
    }
  })
})

test('four hours are closed without holding the main thread for more than 50 ms', async () => {
  const file = join(folder, '4.mp4')
  const tracks = [
    assertDefined(readConfig({ codec: 'avc', data: CONFIGS.avcHigh }), 'avc'),
    assertDefined(readConfig({ codec: 'aac', data: CONFIGS.aac48 }), 'aac'),
  ]
  const handle = await open(file, 'w')
  await handle.write(Buffer.concat([FILE_START, initSegment(tracks)]))
  const [frames, sounds] = [30, 24]
  const parts = 4 * 3600 * 2
  for (let part = 0; part < parts; ) {
    const some: Uint8Array[] = []
    for (const end = Math.min(part + 200, parts); part < end; part++) {
      const pictures = Array.from({ length: frames }, (_, frame) => ({
        ...{ data: Buffer.alloc(20, frame), duration: frame % 3 === 2 ? 1530 : 1485 },
        ...{ compositionOffset: (frame % 4) * 1500, isKey: frame === 0 },
      }))
      const audio = Array.from({ length: sounds }, () => ({
        data: Buffer.alloc(9, 1),
        duration: 1000,
        compositionOffset: 0,
        isKey: true,
      }))
      some.push(
        fragment(part, [
          { trackId: 1, kind: 'video', baseDecodeTime: part * 45_000, samples: pictures },
          { trackId: 2, kind: 'audio', baseDecodeTime: part * 24_000, samples: audio },
        ]),
      )
    }
    await handle.write(Buffer.concat(some))
  }
  await handle.close()
  let longest = 0
  let isDone = false
  const cpuMilliseconds = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  const watch = (async () => {
    for (let [last, lastCpu] = [performance.now(), cpuMilliseconds()]; !isDone; ) {
      await new Promise(resolve => setImmediate(resolve))
      const [now, cpu] = [performance.now(), cpuMilliseconds()]
      // Time without work of this process was taken by others.
      longest = Math.max(longest, Math.min(now - last, cpu - lastCpu))
      last = now
      lastCpu = cpu
    }
  })()
  const started = performance.now()
  const recording = assertDefined(await Recording.reopen(recordingOptions(file)), 'a recording')
  const opened = performance.now()
  expect(await recording.close()).toBe(true)
  isDone = true
  await watch
  process.stdout.write(
    `four hours: opened in ${Math.round(opened - started)} ms, closed in ${Math.round(performance.now() - opened)} ms, longest hold ${Math.round(longest)} ms\n`,
  )
  expect(longest).toBeLessThan(50)
  if (hasProbe) {
    const words = ['-v', 'error', '-show_entries', 'format=duration:stream=nb_frames', '-of', 'csv=p=0']
    const { stdout } = run(TEST_FFPROBE, ...words, file)
    expect(stdout.trim().split('\n')).toEqual([
      String(frames * parts),
      String(sounds * parts),
      '14400.000000',
    ])
  }
}, 120_000)

describe('a process that is killed', () => {
  const TOKEN = 'an-operator-token-for-these-tests'

  test(`leaves recordings that play, at ${TEST_KILLS} random moments, and the publisher continues them`, async () => {
    const [port, rtmpPort] = [await freePort(), await freePort()]
    const data = mkdtempSync(join(folder, 'data-'))
    const environment: Environment = {
      ...{
        STRAND_DATA: data,
        STRAND_OPERATOR_TOKEN: TOKEN,
        STRAND_RECORD: 'on',
        STRAND_RECONNECT_GRACE: '600',
      },
      ...{ STRAND_LISTEN: `127.0.0.1:${port}`, STRAND_RTMP_LISTEN: `127.0.0.1:${rtmpPort}` },
    }
    const start = async () => {
      const strand = new StrandProcess(['serve'], { environment })
      await strand.serving()
      return strand
    }
    const control = async (method: string, path: string, body?: object) => {
      const response = await fetch(`http://127.0.0.1:${port}/control${path}`, {
        method,
        headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      return ((await response.json()) as { data: { stream_key: string }[] }).data[0]
    }
    let strand = await start()
    await control('PUT', '/users/7', { login: 'otter' })
    const key = (await control('GET', '/channels/7/stream-key'))?.stream_key ?? ''
    const recordings = join(data, 'recordings')
    let least = 0
    for (let kill = 0; kill < Number(TEST_KILLS); kill++) {
      const publisher = await TestPublisher.start({ rtmpPort, key })
      const moment = 50 + Math.random() * 900
      const sending = setInterval(() => publisher.send(0.2, 5000), 10)
      await Bun.sleep(moment)
      await strand.end('SIGKILL')
      clearInterval(sending)
      publisher.close()
      const [name] = readdirSync(recordings).filter(each => each.endsWith('.mp4'))
      if (name !== undefined) {
        const copy = join(folder, 'copy.mp4')
        writeFileSync(copy, readFileSync(join(recordings, name)))
        const recording = await Recording.reopen(recordingOptions(copy))
        if ((await recording?.close()) === true) {
          const [video] = await readMp4(readFileSync(copy))
          const samples = video?.samples ?? []
          // Nothing that was recorded before is lost.
          expect(samples.length).toBeGreaterThanOrEqual(least)
          least = samples.length
          for (const { data: bytes } of samples) expect(bytes.length).toBe(5004)
        }
      }
      strand = await start()
    }
    expect(least).toBeGreaterThan(0)
    expect(readdirSync(recordings).filter(each => each.endsWith('.mp4')).length).toBe(1)
    await strand.end('SIGTERM')
    const [name = ''] = readdirSync(recordings).filter(each => each.endsWith('.mp4'))
    const [video] = await readMp4(readFileSync(join(recordings, name)))
    expect(video?.samples.length).toBe(least)
    expect(readdirSync(recordings)).toContain(name.replace('.mp4', '.m3u8'))
  }, 1_200_000)
})
