import { afterAll, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Recording } from '../../src/media/recording/recording.ts'
import { RecordingSpace } from '../../src/media/recording/recording-space.ts'
import { Recordings } from '../../src/media/recording/recordings.ts'
import { avcHeader, CONFIGS } from '../support/media/codecs.ts'
import { readMp4 } from '../support/media/read-mp4.ts'
import { RecordedPublisher, recordingOptions } from '../support/media/recorder.ts'
import { runs } from '../support/properties.ts'

const folder = mkdtempSync(join(tmpdir(), 'strand-recording-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const newFile = () => {
  files += 1
  return join(folder, `${files}.mp4`)
}

/** The tracks of a closed recording, with times in milliseconds. */
async function read(file: string) {
  const tracks = await readMp4(readFileSync(file))
  return tracks.map(({ samples, ...track }) => ({
    ...track,
    samples,
    times: samples.map(({ seconds }) => Math.round(seconds * 1000)),
  }))
}

/** The fragments of a recording as its playlist lists them, read with their init segments, and the position of each entry. */
async function readPlaylist(file: string, text: string) {
  const bytes = readFileSync(file)
  const range = (value: string) => {
    const [size = 0, at = 0] = value.split('@').map(Number)
    return bytes.subarray(at, at + size)
  }
  let init: Uint8Array = Buffer.alloc(0)
  let position = 0
  let seconds = 0
  let isGap = false
  const entries: { position: number; seconds: number; times: number[] }[] = []
  for (const line of text.split('\n')) {
    const map = /^#EXT-X-MAP:URI="[0-9]+\.mp4",BYTERANGE="([0-9@]+)"$/.exec(line)?.[1]
    if (map !== undefined) init = range(map)
    if (line === '#EXT-X-GAP') isGap = true
    if (line.startsWith('#EXTINF:')) seconds = Number.parseFloat(line.slice(8))
    const part = /^#EXT-X-BYTERANGE:([0-9@]+)$/.exec(line)?.[1]
    if (part === undefined) continue
    if (!isGap) {
      const [video] = await readMp4(init, range(part))
      const times = video?.samples.map(sample => Math.round(sample.seconds * 1000)) ?? []
      entries.push({ position: Math.round(position * 1000), seconds, times })
    }
    position += seconds
    isGap = false
  }
  return entries
}

const playlistOf = (file: string) => readFileSync(Recording.playlistFile(file), 'utf8')
const every40 = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n * 40)

describe('a recording', () => {
  test('is a plain MP4 with every sample at its time, and its playlist has the same by byte ranges', async () => {
    const file = newFile()
    const recording = new Recording(recordingOptions(file))
    new RecordedPublisher(recording).play(25, { from: 777 }).end()
    expect(await recording.close()).toBe(true)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const [video, audio] = await read(file)
    expect(video?.times).toEqual(every40(0, 625))
    expect(video?.samples.filter(({ isKey }) => isKey).length).toBe(25)
    expect(audio?.samples.length).toBeWithin(1075, 1079)
    expect(audio?.times[0]).toBeWithin(0, 24)
    const entries = await readPlaylist(file, playlistOf(file))
    expect(entries.map(({ position, seconds }) => [position, seconds])).toEqual([
      [0, 10],
      [10_000, 10],
      [20_000, 5],
    ])
    expect(entries.flatMap(({ times }) => times)).toEqual(every40(0, 625))
    expect(playlistOf(file)).toContain('#EXT-X-PLAYLIST-TYPE:VOD')
    expect(playlistOf(file)).toEndWith('#EXT-X-ENDLIST\n')
  })

  test('lists what is written while it runs, without an end', async () => {
    const file = newFile()
    const recording = new Recording(recordingOptions(file))
    const publisher = new RecordedPublisher(recording).play(5)
    await recording.started
    expect(recording.playlist).toBeUndefined()
    publisher.play(20, { from: 5000 })
    while (recording.playlist === undefined) await Bun.sleep(5)
    const text = await recording.playlist?.text()
    expect(text).toContain('#EXT-X-PLAYLIST-TYPE:EVENT')
    expect(text).not.toContain('ENDLIST')
    const entries = await readPlaylist(file, text ?? '')
    expect(entries[0]?.times).toEqual(every40(0, 250))
    publisher.end()
    await recording.close()
    expect(playlistOf(file)).toContain(text?.split('EVENT\n')[1] ?? 'nothing')
  })

  test('has pictures in another order than they are decoded', async () => {
    const file = newFile()
    const recording = new Recording(recordingOptions(file))
    new RecordedPublisher(recording).play(3, { bFrames: true }).end()
    await recording.close()
    const [video] = await read(file)
    const offsets = [40, 120, 40, 0]
    expect(video?.times).toEqual(every40(0, 75).map((time, n) => time + (offsets[n % 4] ?? 0)))
  })

  test('begins at the position of its first frame in the stream', async () => {
    const file = newFile()
    const recording = new Recording(recordingOptions(file))
    new RecordedPublisher(recording, 4000).play(12).end()
    await recording.close()
    const [video, audio] = await read(file)
    expect([video?.times[0], audio?.times[0]]).toEqual([4000, 4000])
    const [first] = await readPlaylist(file, playlistOf(file))
    expect([first?.position, first?.times[0]]).toEqual([4000, 4000])
  })

  test('continues on the clock of the stream when the publisher returns, with the gap in the playlist', async () => {
    const file = newFile()
    const recording = new Recording(recordingOptions(file))
    new RecordedPublisher(recording).play(3).end()
    new RecordedPublisher(recording, 31_000).play(2, { from: 900_000 }).end()
    await recording.close()
    const [video] = await read(file)
    expect(video?.times).toEqual([...every40(0, 75), ...every40(31_000, 50)])
    const entries = await readPlaylist(file, playlistOf(file))
    expect(entries.map(({ position }) => position)).toEqual([0, 31_000])
    expect(entries[1]?.times).toEqual(every40(31_000, 50))
    expect(playlistOf(file).match(/#EXT-X-DISCONTINUITY\n/g)?.length).toBe(1)
  })

  test('squeezes no frames where an encoder starts a little before the end of what another one sent', async () => {
    const file = newFile()
    const recording = new Recording(recordingOptions(file))
    new RecordedPublisher(recording).play(3).end()
    new RecordedPublisher(recording, 2900).play(1).end()
    await recording.close()
    const times = (await read(file))[0]?.times ?? []
    expect(times.slice(0, 75)).toEqual(every40(0, 75))
    expect(times[75]).toBeWithin(3000, 3020)
    expect(times.slice(75)).toEqual(every40(times[75] ?? 0, 25))
  })

  test('has a second description of its samples after a change of the size', async () => {
    const file = newFile()
    const recording = new Recording(recordingOptions(file))
    const publisher = new RecordedPublisher(recording).play(3)
    publisher.play(3, { from: 3000, header: avcHeader(CONFIGS.avcHigh) })
    publisher.end()
    await recording.close()
    const [video] = await read(file)
    expect(video?.times).toEqual(every40(0, 150))
    const bytes = readFileSync(file)
    const tables = bytes.subarray(bytes.lastIndexOf('stsd'))
    const descriptions = bytes.subarray(bytes.indexOf('stsd', bytes.lastIndexOf('mvhd')))
    expect([descriptions.readUInt32BE(8), tables.readUInt32BE(8)]).toEqual([2, 1])
    expect(playlistOf(file).match(/#EXT-X-MAP/g)?.length).toBe(2)
  })

  test('follows the clock of the stream where that was set far ahead', async () => {
    const file = newFile()
    const recording = new Recording(recordingOptions(file))
    const publisher = new RecordedPublisher(recording).play(4, { hasSound: false })
    publisher.position = 3_600_000
    publisher.play(4, { from: 4000, hasSound: false }).end()
    await recording.close()
    const times = (await read(file))[0]?.times ?? []
    expect(times.at(-1)).toBeWithin(3_602_900, 3_604_001)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  test('without a whole fragment leaves no file', async () => {
    const file = newFile()
    const recording = new Recording(recordingOptions(file))
    new RecordedPublisher(recording).end()
    expect(await recording.close()).toBe(false)
    expect(existsSync(file)).toBe(false)
    writeFileSync(file, Buffer.alloc(5000))
    expect(await Recording.reopen(recordingOptions(file))).toBeUndefined()
    expect(existsSync(file)).toBe(false)
  })
})

describe('after a crash', () => {
  /** A file as it is before it is closed, closed, and its playlist. */
  async function recorded() {
    const [file, open] = [newFile(), newFile()]
    const recording = new Recording(recordingOptions(file))
    const publisher = new RecordedPublisher(recording).play(6)
    publisher.play(3, { from: 6000, header: avcHeader(CONFIGS.avcHigh) })
    publisher.end()
    await recording.close()
    const closed = readFileSync(file)
    const size = closed.readUInt32BE(0) + Number(closed.readBigUInt64BE(closed.readUInt32BE(0) + 8))
    const bytes = Buffer.from(closed.subarray(0, size))
    bytes.set(Buffer.from('\0\0\0\x10free\0\0\0\0\0\0\0\0', 'latin1'), bytes.readUInt32BE(0))
    return { open, bytes, closed, playlist: playlistOf(file).replaceAll(`${files - 1}.mp4`, `${files}.mp4`) }
  }
  const recover = async (file: string) => (await Recording.reopen(recordingOptions(file)))?.close()

  test('between any two steps of closing and opening, the recording is the same', async () => {
    const { open, bytes, closed, playlist } = await recorded()
    const mark = Buffer.from(closed.subarray(bytes.readUInt32BE(0), bytes.readUInt32BE(0) + 16))
    const unmarked = Buffer.concat([bytes, closed.subarray(bytes.length)])
    const sealedWithout = Buffer.from(bytes)
    sealedWithout.set(mark, bytes.readUInt32BE(0))
    const states = {
      'nothing of the closing tables': bytes,
      'half of the closing tables': unmarked.subarray(0, bytes.length + 1000),
      'closing tables that are not marked': unmarked,
      'a closed file': closed,
      'a marked file without its tables': sealedWithout,
      'zeros of a power loss': Buffer.concat([bytes, Buffer.alloc(10_000)]),
    }
    for (const [state, content] of Object.entries(states)) {
      writeFileSync(open, content)
      expect([state, await recover(open)]).toEqual([state, true])
      expect([state, readFileSync(open).equals(closed), playlistOf(open)]).toEqual([state, true, playlist])
    }
  })

  test('property: wherever it is cut off, every whole fragment plays and nothing else is left', async () => {
    const { open, bytes, closed } = await recorded()
    const whole = (await readMp4(closed)).map(({ samples }) => samples)
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length), fc.uint8Array({ maxLength: 40 }), async (at, garbage) => {
        writeFileSync(open, Buffer.concat([bytes.subarray(0, at), garbage]))
        const isKept = await recover(open)
        expect(existsSync(open)).toBe(isKept === true)
        if (!isKept) {
          expect(bytes.indexOf('mdat', 0, 'latin1') + 5000).toBeGreaterThan(at)
          return
        }
        const tracks = await readMp4(readFileSync(open))
        for (const { kind, samples } of tracks) {
          const all = whole[kind === 'video' ? 0 : 1] ?? []
          expect(samples.length).toBeGreaterThan(0)
          expect(samples.map(({ data }) => data.length)).toEqual(
            all.slice(0, samples.length).map(({ data }) => data.length),
          )
        }
      }),
      { numRuns: runs(60) },
    )
  })

  test('it is continued by a publisher who returns, closed or not', async () => {
    const { open, bytes, closed } = await recorded()
    for (const content of [bytes, closed]) {
      writeFileSync(open, content)
      const recording = await Recording.reopen(recordingOptions(open))
      if (recording === undefined) throw new Error('not opened')
      expect(recording.milliseconds).toBeWithin(9000, 9100)
      new RecordedPublisher(recording, 20_000).play(2).end()
      await recording.close()
      const [video] = await read(open)
      expect(video?.times).toEqual([...every40(0, 225), ...every40(20_000, 50)])
    }
  })
})

describe('a disk', () => {
  test('without room pauses a recording, which resumes with a gap when there is room again', async () => {
    const file = newFile()
    let left = 20_000
    const space = new RecordingSpace('/nowhere')
    space.take = bytes => {
      if (left < bytes) return 'no room'
      left -= bytes
      return undefined
    }
    const options = recordingOptions(file, { space })
    const recording = new Recording(options)
    const publisher = new RecordedPublisher(recording).play(10, { hasSound: false })
    expect(options.events).toEqual(['no room'])
    left = 1e9
    publisher.play(5, { from: 10_000, hasSound: false }).end()
    await recording.close()
    expect(options.events).toEqual(['no room', 'resumed'])
    const times = (await read(file))[0]?.times ?? []
    const gap = times.findIndex((time, n) => n > 0 && time - (times[n - 1] ?? 0) > 40)
    expect(times[gap]).toBe(10_000)
    expect(times.slice(gap)).toEqual(every40(10_000, 125))
    const entries = await readPlaylist(file, playlistOf(file))
    expect(entries.flatMap(entry => entry.times)).toEqual(times)
    for (const { position, times: [first = 0] = [] } of entries)
      expect(Math.abs(position - first)).toBeLessThan(60)
  })

  test('that is too slow makes a recording drop parts, and holds no more than 32 MiB', async () => {
    const file = newFile()
    const options = recordingOptions(file)
    const recording = new Recording(options)
    // Everything arrives before the disk can answer.
    new RecordedPublisher(recording).play(20, { bytes: 100_000, hasSound: false }).end()
    expect(options.events).toEqual(['the disk is too slow'])
    await recording.close()
    expect(statSync(file).size).toBeWithin(30_000_000, 34 * 1024 * 1024)
    expect((await read(file))[0]?.samples.length).toBeWithin(300, 340)
  })

  test('whose folder is full by its setting, or whose free space is short, has no room', async () => {
    const place = mkdtempSync(join(folder, 'space-'))
    writeFileSync(join(place, '1.mp4'), Buffer.alloc(100_000))
    const full = new RecordingSpace(place, { maxBytes: 150_000, freeBytes: 0 })
    await full.look()
    expect(full.take(20_000)).toBeUndefined()
    expect(full.take(60_000)).toBe('the recordings take all the room of STRAND_RECORDINGS_GIB')
    rmSync(join(place, '1.mp4'))
    await full.look()
    expect(full.take(60_000)).toBeUndefined()
    const short = new RecordingSpace(place, { freeBytes: 1e18 })
    await short.look()
    expect(short.take(1)).toMatch(/^the disk has less than [0-9]+ MiB free$/)
  })

  test('that is full when a recording is closed leaves it open, and closing can be tried again', async () => {
    const file = newFile()
    const recording = new Recording(recordingOptions(file))
    new RecordedPublisher(recording).play(3).end()
    await recording.started
    // The name of its playlist is taken by a folder.
    mkdirSync(`${Recording.playlistFile(file)}.part`)
    expect(recording.close()).rejects.toThrow()
    await recording.close().catch(() => undefined)
    rmSync(`${Recording.playlistFile(file)}.part`, { recursive: true })
    expect(await recording.close()).toBe(true)
    expect((await read(file))[0]?.times).toEqual(every40(0, 75))
    expect(playlistOf(file)).toEndWith('#EXT-X-ENDLIST\n')
  })

  test('that cannot be written to pauses a recording with the reason', async () => {
    const options = recordingOptions(join(folder, 'missing', '1', '1.mp4'))
    writeFileSync(join(folder, 'missing'), '')
    const recording = new Recording(options)
    new RecordedPublisher(recording).play(2).end()
    expect(await recording.close()).toBe(false)
    expect(options.events[0]).toMatch(/^writing failed: E/)
    rmSync(join(folder, 'missing'))
  })
})

test('a recording stops at its maximum size, and stays whole', async () => {
  const file = newFile()
  const options = recordingOptions(file, { maxBytes: 40_000 })
  const recording = new Recording(options)
  new RecordedPublisher(recording).play(20).end()
  await recording.close()
  expect(options.events).toEqual(['it reached its maximum size'])
  expect((await read(file))[0]?.samples.length).toBeGreaterThan(100)
})

test('the recordings of deleted videos are deleted with all their files, and those that are being written stop', async () => {
  const place = join(folder, 'all')
  const recordings = new Recordings({ folder: place, maxBytes: 1e9 })
  for (const id of ['1', '2', '3', '4']) {
    const recording = await recordings.record(id)
    new RecordedPublisher(recording).play(3)
    await recording.started
    await recordings.keepThumbnail(id, Buffer.from('jpeg'))
  }
  writeFileSync(join(place, '5.jpg.part'), 'jp')
  await recordings.close('1')
  await recordings.close('2')
  const last = recordings.find('4')
  expect(await recordings.removeUnknown(async () => new Set(['2', '3']))).toBe(3)
  expect(readdirSync(place).sort()).toEqual(['2.jpg', '2.m3u8', '2.mp4', '3.jpg', '3.mp4'])
  expect([last?.isDiscarded, recordings.openIds]).toEqual([true, ['3']])
  await recordings.close('3')
})

test('interrupted recordings are opened at a start, and their playlists are made again', async () => {
  const place = join(folder, 'interrupted')
  const recordings = new Recordings({ folder: place, maxBytes: 1e9 })
  const recording = await recordings.record('7')
  const publisher = new RecordedPublisher(recording).play(12)
  while (recording.playlist === undefined) await Bun.sleep(5)
  const next = new Recordings({ folder: place, maxBytes: 1e9 })
  copyFileSync(join(place, '7.mp4'), join(place, '8.mp4'))
  publisher.end()
  await recordings.close('7')
  rmSync(join(place, '7.m3u8'))
  await next.reopenInterrupted(async () => false)
  expect(next.openIds).toEqual(['8'])
  expect((await next.playlist('8'))?.isGrowing).toBe(true)
  await next.close('8')
  const [made, other] = [await next.playlist('7'), await next.playlist('8')]
  expect([made?.isGrowing, other?.isGrowing]).toEqual([false, false])
  expect(await made?.text.text()).toContain('7.mp4\n#EXT-X-ENDLIST')
  expect(await next.playlist('9')).toBeUndefined()
})
