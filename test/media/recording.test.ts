import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { decodeIndex, INDEX_BYTES } from '../../src/media/flv-index.ts'
import { Recording } from '../../src/media/recording.ts'
import { Recordings } from '../../src/media/recordings.ts'
import { encodeAmf } from '../../src/media/rtmp/amf0.ts'
import type { MediaMessage } from '../../src/media/rtmp/publisher.ts'
import { AVC } from '../support/rtmp-client.ts'

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
  const options = { file, offsetMilliseconds, maxBytes, onStop: (reason: string) => stops.push(reason) }
  const recording = await Recording.open(options)
  for (const message of messages) recording.write(message)
  await recording.close()
  return stops
}

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
    await record(
      file,
      0,
      Array.from({ length: 20_000 }, (_, index) => video(index * 2000, AVC.keyFrame(1))),
    )
    const { index } = read(file)
    expect(index?.keyFrames.length).toBeLessThanOrEqual(2500)
    expect(index?.milliseconds).toBe(19_999 * 2000)
  })
})

test('the recordings of deleted videos are deleted with their thumbnails, those that are being written stay', async () => {
  const recordings = new Recordings(join(folder, 'all'), 1e9)
  const ids = ['1', '2', '3']
  const open = await Promise.all(ids.map(id => recordings.record(id, 0, () => undefined)))
  for (const each of open) await each.keepThumbnail(Buffer.from('jpeg'))
  writeFileSync(join(folder, 'all', '4.jpg.part'), 'jp')
  await open[0]?.close()
  await open[1]?.close()
  expect(await recordings.removeUnknown(async () => new Set(['2']))).toBe(2)
  expect(await Promise.all(ids.map(id => Bun.file(recordings.fileOf(id)).exists()))).toEqual([
    false,
    true,
    true,
  ])
  expect(readdirSync(join(folder, 'all')).sort()).toEqual(['2.flv', '2.jpg', '3.flv', '3.jpg'])
  await open[2]?.close()
})
