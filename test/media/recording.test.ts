import { afterAll, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  decodeIndex,
  encodeIndex,
  INDEX_BYTES,
  type KeyFrame,
  noteKeyFrame,
} from '../../src/media/flv-index.ts'
import { Recording } from '../../src/media/recording.ts'
import { Recordings } from '../../src/media/recordings.ts'
import { encodeAmf } from '../../src/media/rtmp/amf0.ts'
import type { MediaMessage } from '../../src/media/rtmp/publisher.ts'
import { AVC } from '../support/media/codecs.ts'

const folder = mkdtempSync(join(tmpdir(), 'strand-recording-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const newFile = () => {
  files += 1
  return join(folder, `${files}.flv`)
}

const video = (timestamp: number, payload: Uint8Array): MediaMessage => ({
  kind: 'video',
  timestamp,
  payload,
})

async function record(
  file: string,
  offsetMilliseconds: number,
  messages: readonly MediaMessage[],
  maxBytes = 1e9,
) {
  const stops: string[] = []
  const onStop = (reason: string) => stops.push(reason)
  const recording = new Recording({ file, positionNow: () => offsetMilliseconds, maxBytes, onStop })
  for (const message of messages) recording.write(message)
  await recording.close()
  return stops
}

/** Records a key frame with each timestamp, at a position by the clock of the stream. */
async function recordByClock(
  file: string,
  frames: readonly (readonly [position: number, timestamp: number])[],
): Promise<void> {
  let position = 0
  const options = { file, positionNow: () => position, maxBytes: 1e9, onStop: () => undefined }
  const recording = new Recording(options)
  await recording.opened
  for (const [at, timestamp] of frames) {
    position = at
    recording.write(video(timestamp, AVC.keyFrame(1)))
  }
  await recording.close()
}

test('only the owner can read a recording, as every file of the data folder', async () => {
  const file = newFile()
  await record(file, 0, [video(0, AVC.keyFrame(1))])
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

/** The tags behind the index, and the index. */
function read(file: string) {
  const bytes = readFileSync(file)
  const index = decodeIndex(bytes.subarray(13 + 11, 13 + 11 + INDEX_BYTES))
  const tags: { position: number; timestamp: number; size: number }[] = []
  for (let at = 13 + 15 + INDEX_BYTES; at < bytes.length; ) {
    const size = bytes.readUIntBE(at + 1, 3)
    const timestamp = bytes.readUIntBE(at + 4, 3) + bytes.readUInt8(at + 7) * 2 ** 24
    tags.push({ position: at, timestamp, size })
    expect(bytes.readUInt32BE(at + 11 + size)).toBe(11 + size)
    at += 15 + size
  }
  return { bytes, index, tags }
}

describe('a recording', () => {
  test('has every frame, and an index of its key frames and its duration', async () => {
    const file = newFile()
    const metadata = encodeAmf('onMetaData', new Map([['width', 1280]]))
    await record(file, 0, [
      { kind: 'metadata', timestamp: 0, payload: metadata },
      video(5000, AVC.keyFrame()),
      video(5040, AVC.frame()),
      video(7000, AVC.keyFrame()),
    ])
    const { bytes, index, tags } = read(file)
    expect(tags.map(({ timestamp }) => timestamp)).toEqual([0, 40, 2000])
    expect(index).toEqual({
      milliseconds: 2000,
      bytes: bytes.length,
      keyFrames: [
        { milliseconds: 0, position: tags[0]?.position ?? 0 },
        { milliseconds: 2000, position: tags[2]?.position ?? 0 },
      ],
      metadata: new Map([['width', 1280]]),
    })
  })

  test('continues on the clock of the stream when the publisher returns', async () => {
    const file = newFile()
    await record(file, 0, [video(0, AVC.keyFrame()), video(1000, AVC.keyFrame())])
    await record(file, 31_000, [video(900_000, AVC.keyFrame()), video(901_000, AVC.frame())])
    const { index, tags } = read(file)
    expect(tags.map(({ timestamp }) => timestamp)).toEqual([0, 1000, 31_000, 32_000])
    expect(index?.keyFrames.map(({ milliseconds }) => milliseconds)).toEqual([0, 1000, 31_000])
    expect(index?.milliseconds).toBe(32_000)
  })

  test('is continued and indexed after a crash, without the frame that was cut off', async () => {
    const file = newFile()
    await record(file, 0, [
      video(0, AVC.keyFrame()),
      video(1000, AVC.frame()),
      video(2000, AVC.keyFrame(5000)),
    ])
    const whole = read(file)
    // As a crash leaves it: no index, and half a frame.
    const empty = newFile()
    await record(empty, 0, [])
    const unindexed = Buffer.concat([readFileSync(empty).subarray(0, 13), whole.bytes.subarray(13)])
    writeFileSync(file, unindexed)
    truncateSync(file, unindexed.length - 100)
    await record(file, 3000, [video(0, AVC.keyFrame())])
    expect(read(file).tags.map(({ timestamp }) => timestamp)).toEqual([0, 1000, 3000])
    expect(read(file).index?.keyFrames.map(({ milliseconds }) => milliseconds)).toEqual([0, 3000])
  })

  test('squeezes no frames where an encoder starts a little before the end of what another one sent', async () => {
    const file = newFile()
    await record(file, 0, [video(0, AVC.keyFrame()), video(3000, AVC.frame())])
    await record(file, 2900, [video(0, AVC.keyFrame()), video(40, AVC.frame()), video(80, AVC.frame())])
    expect(read(file).tags.map(({ timestamp }) => timestamp)).toEqual([0, 3000, 3001, 3041, 3081])
  })

  test('starts at the position of its first frame, not of the connection', async () => {
    const file = newFile()
    let position = 0
    const recording = new Recording({
      file,
      positionNow: () => position,
      maxBytes: 1e9,
      onStop: () => undefined,
    })
    expect(await recording.opened).toBe(true)
    recording.write({ kind: 'metadata', timestamp: 0, payload: encodeAmf('onMetaData', new Map()) })
    position = 4000
    recording.write(video(77, AVC.keyFrame()))
    await recording.close()
    expect(read(file).tags.map(({ timestamp }) => timestamp)).toEqual([4000])
  })

  test('follows the clock of the stream where the encoder counts from the start again, or the clock is set', async () => {
    const file = newFile()
    await recordByClock(file, [
      [0, 1000],
      [20_000, 21_000],
      [20_040, 0],
      [21_040, 1000],
      // Half a second late, as in any network.
      [22_540, 2000],
      [3_600_000, 3000],
      [3_601_000, 4000],
      [50_000, 5000],
      [51_000, 6000],
    ])
    expect(read(file).tags.map(({ timestamp }) => timestamp)).toEqual([
      0, 20_000, 20_040, 21_040, 22_040, 3_600_000, 3_601_000, 3_601_001, 3_602_001,
    ])
  })

  test('has every frame that arrived before its file was open', async () => {
    const file = newFile()
    const { promise: after, resolve: ready } = Promise.withResolvers<void>()
    const options = { file, positionNow: () => 0, maxBytes: 1e9, onStop: () => undefined, after }
    const recording = new Recording(options)
    recording.write(video(0, AVC.keyFrame()))
    recording.write(video(40, AVC.frame()))
    ready()
    expect(await recording.opened).toBe(true)
    recording.write(video(80, AVC.frame()))
    await recording.close()
    expect(read(file).tags.map(({ timestamp }) => timestamp)).toEqual([0, 40, 80])
  })

  test('that cannot be opened stops with the reason', async () => {
    expect(await record(join(folder, 'missing', '1.flv'), 0, [video(0, AVC.keyFrame())])).toEqual([
      'opening failed: ENOENT',
    ])
  })

  test('keeps the metadata of the encoder through a crash', async () => {
    const [file, copy] = [newFile(), newFile()]
    const options = { file, positionNow: () => 0, maxBytes: 1e9, onStop: () => undefined }
    const recording = new Recording(options)
    const payload = encodeAmf('onMetaData', new Map([['width', 1280]]))
    recording.write({ kind: 'metadata', timestamp: 0, payload })
    recording.write(video(0, AVC.keyFrame(300_000)))
    await recording.opened
    while (readFileSync(file).length < 300_000) await Bun.sleep(5)
    copyFileSync(file, copy)
    await recording.close()
    await record(copy, 0, [])
    expect(read(copy).index?.metadata).toEqual(new Map([['width', 1280]]))
    expect(read(copy).bytes.equals(read(file).bytes)).toBe(true)
  })

  test('ends where a power loss left zeros, or an index that cannot be read', async () => {
    const file = newFile()
    await record(file, 0, [video(0, AVC.keyFrame()), video(1000, AVC.frame())])
    const { bytes } = read(file)
    writeFileSync(file, Buffer.concat([bytes, Buffer.alloc(5000)]))
    await record(file, 0, [])
    expect(read(file).bytes.equals(bytes)).toBe(true)
    const damaged = Buffer.from(bytes).fill(0x0a, 13 + 11, 13 + 11 + 100)
    writeFileSync(file, damaged)
    await record(file, 0, [])
    expect(read(file).bytes.equals(bytes)).toBe(true)
  })

  test('stops at its maximum size, and stays whole', async () => {
    const file = newFile()
    const frames = Array.from({ length: 50 }, (_, index) => video(index * 40, AVC.keyFrame(1000)))
    const stops = await record(file, 0, frames, INDEX_BYTES + 20_000)
    expect(stops).toEqual(['it reached its maximum size'])
    expect(read(file).bytes.length).toBeLessThanOrEqual(INDEX_BYTES + 20_000)
    expect(read(file).tags.length).toBeGreaterThan(15)
  })

  test('never goes back in time, whatever the timestamps', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(0xffffffff), { minLength: 1, maxLength: 20 }), async timestamps => {
        const file = newFile()
        await record(
          file,
          100,
          timestamps.map(each => video(each, AVC.keyFrame(10))),
        )
        const times = read(file).tags.map(({ timestamp }) => timestamp)
        expect(times).toEqual(times.toSorted((a, b) => a - b))
        expect(read(file).index?.bytes).toBe(read(file).bytes.length)
      }),
      { numRuns: 30 },
    )
  })

  test('of many hours still has an index of the reserved size', async () => {
    const file = newFile()
    await recordByClock(
      file,
      Array.from({ length: 20_000 }, (_, index) => [index * 2000, index * 2000] as const),
    )
    const { index } = read(file)
    expect(index?.keyFrames.length).toBeWithin(1000, 2501)
    expect(index?.keyFrames[0]?.milliseconds).toBe(0)
    expect(index?.milliseconds).toBe(19_999 * 2000)
  })
})

test('key frames are noted in bounded memory, evenly thinned', () => {
  const keyFrames: KeyFrame[] = []
  for (let n = 0; n < 1_000_000; n++) noteKeyFrame(keyFrames, { milliseconds: n, position: n })
  expect(keyFrames.length).toBeLessThan(5000)
  expect(keyFrames[0]?.milliseconds).toBe(0)
  expect(keyFrames.map(({ milliseconds }) => milliseconds)).toEqual(
    keyFrames.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b),
  )
})

test('an index with as much metadata as an encoder may send, and as many key frames, is whole', () => {
  const metadata = new Map(
    Array.from({ length: 60 }, (_, n) => [`${n}`.padEnd(200, 'n'), 'v'.repeat(200)] as const),
  )
  const keyFrames = Array.from({ length: 4999 }, (_, n) => ({ milliseconds: n * 1000, position: n }))
  const payload = encodeIndex({ milliseconds: 4_998_000, bytes: 12_345, keyFrames, metadata })
  expect(payload.length).toBe(INDEX_BYTES)
  const index = decodeIndex(payload)
  expect([index?.bytes, index?.keyFrames.length]).toEqual([12_345, 2500])
  expect(index?.metadata.size).toBeGreaterThan(20)
})

test('the recordings of deleted videos are deleted with their thumbnails, and those that are being written stop', async () => {
  const recordings = new Recordings(join(folder, 'all'), 1e9)
  const ids = ['1', '2', '3', '4']
  const stopped: string[] = []
  const open = ids.map(id =>
    recordings.record(id, { positionNow: () => 0, onStop: reason => stopped.push(`${id}: ${reason}`) }),
  )
  expect(await Promise.all(open.map(({ opened }) => opened))).toEqual([true, true, true, true])
  for (const id of ids) await recordings.keepThumbnail(id, Buffer.from('jpeg'))
  writeFileSync(join(folder, 'all', '5.jpg.part'), 'jp')
  const close = (at: number) => recordings.close(ids[at] ?? '', open[at] as Recording)
  await close(0)
  await close(1)
  expect(await recordings.removeUnknown(async () => new Set(['2', '3']))).toBe(3)
  const kept = ['2.flv', '2.jpg', '3.flv', '3.jpg']
  expect(readdirSync(join(folder, 'all')).sort()).toEqual(kept)
  expect(stopped).toEqual(['4: its video was deleted'])
  expect(open.map(({ isDiscarded }) => isDiscarded)).toEqual([false, false, false, true])
  open[3]?.write(video(0, AVC.keyFrame()))
  await close(2)
  await close(3)
  expect(readdirSync(join(folder, 'all')).sort()).toEqual(kept)
})

test('a video has one recording at a time: the next one continues what the previous one has', async () => {
  const recordings = new Recordings(join(folder, 'one'), 1e9)
  const options = { onStop: () => undefined }
  const first = recordings.record('7', { ...options, positionNow: () => 0 })
  first.write(video(0, AVC.keyFrame()))
  first.write(video(1000, AVC.keyFrame()))
  const second = recordings.record('7', { ...options, positionNow: () => 5000 })
  second.write(video(0, AVC.keyFrame()))
  first.write(video(2000, AVC.keyFrame()))
  await recordings.close('7', second)
  await recordings.close('7', first)
  expect(read(recordings.filePath('7')).tags.map(({ timestamp }) => timestamp)).toEqual([0, 1000, 5000])
  expect(await recordings.lastMilliseconds('7')).toBe(5000)
  // A crash may cut the last frame.
  const cut = recordings.filePath('9')
  copyFileSync(recordings.filePath('7'), cut)
  truncateSync(cut, readFileSync(cut).length - 7)
  expect(await recordings.lastMilliseconds('9')).toBe(1000)
  expect(await recordings.lastMilliseconds('8')).toBeUndefined()
})
