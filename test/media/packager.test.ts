import { describe, expect, test } from 'bun:test'
import { Packager } from '../../src/media/hls/packager.ts'
import { MediaMemory } from '../../src/media/media-memory.ts'
import { readPacket } from '../../src/media/packet.ts'
import type { MediaMessage } from '../../src/media/rtmp/publisher.ts'
import { AAC, AVC, audio, avcHeader, CONFIGS, video } from '../support/media/codecs.ts'
import { type Playlist, parsePlaylist } from '../support/media/hls.ts'
import { readMp4 } from '../support/media/read-mp4.ts'

const MEBIBYTE = 1024 * 1024
const reader = { take: () => () => undefined }

/** A broadcast on a clock that the test moves. */
function open({ memory = new MediaMemory(1024 * MEBIBYTE), isRecorded = false } = {}) {
  const state = { now: 0, isTooLarge: false, frame: 0 }
  const packager = new Packager({
    memory,
    now: () => state.now,
    onTooLarge: () => {
      state.isTooLarge = true
    },
  })
  if (isRecorded) packager.attach({ part: () => undefined, segmentEnded: () => undefined })
  const publish = (message: MediaMessage) => {
    const packet = readPacket(message)
    if (packet !== undefined) packager.publish(packet)
  }
  publish(video(0, AVC.header))
  publish(audio(0, AAC.header))
  /** Sends pictures at 25 a second with key frames every 2 s, at the pace of the clock. */
  const send = (seconds: number, bytes = 100) => {
    for (let count = 0; count < Math.round(seconds * 25); count++) {
      const time = state.frame * 40
      publish(video(time, state.frame % 50 === 0 ? AVC.keyFrame(bytes) : AVC.frame(bytes)))
      publish(audio(time, AAC.frame()))
      state.frame += 1
      state.now += 40
    }
  }
  const playlist = async (): Promise<Playlist> => {
    const found = await packager.playlist(reader)
    if (typeof found === 'string') throw new Error(found)
    return parsePlaylist(await found.text())
  }
  return { packager, memory, state, publish, send, playlist }
}

describe('the window', () => {
  test('has six segments and twelve seconds; a segment that leaves it is kept for its duration and that of the playlist', async () => {
    const { packager, send, playlist, memory } = open()
    send(0.2)
    await packager.variant(reader)
    send(40)
    const { segments } = await playlist()
    const listed = segments.filter(({ uri }) => uri !== undefined)
    expect(listed.map(({ sequence }) => sequence)).toEqual([14, 15, 16, 17, 18, 19])
    expect(listed.map(({ parts }) => parts.length > 0)).toEqual([false, false, false, true, true, true])
    // 14 s behind the playlist.
    expect([packager.segment(5), packager.segment(7)].map(each => each !== undefined)).toEqual([false, true])
    expect([packager.init(0) !== undefined, packager.init(1)]).toEqual([true, undefined])
    const before = memory.used
    send(40)
    expect(Math.abs(memory.used - before)).toBeLessThan(before / 10)
    packager.close()
    expect(memory.used).toBe(0)
  })

  test('shrinks to what fits into 24 MiB, never below three target durations; a bit rate beyond that does not fit', async () => {
    const { packager, send, playlist, state } = open()
    send(0.2)
    await packager.variant(reader)
    // 20 Mbit/s: 5 MB for a segment.
    send(20, 100_000)
    expect((await playlist()).segments.filter(({ uri }) => uri !== undefined).length).toBeWithin(3, 6)
    expect(state.isTooLarge).toBe(false)
    send(12, 220_000)
    expect(state.isTooLarge).toBe(true)
    packager.close()
  })

  test('shrinks to three target durations while the memory of all broadcasts is short', async () => {
    const memory = new MediaMemory(8 * MEBIBYTE)
    const { packager, send, playlist, state } = open({ memory })
    send(0.2)
    await packager.variant(reader)
    send(30, 20_000)
    expect((await playlist()).segments.filter(({ uri }) => uri !== undefined)).toHaveLength(6)
    memory.add(8 * MEBIBYTE)
    send(1, 20_000)
    expect((await playlist()).segments.filter(({ uri }) => uri !== undefined)).toHaveLength(3)
    expect([packager.segment(5), state.isTooLarge]).toEqual([undefined, false])
    packager.close()
    expect(memory.used).toBe(8 * MEBIBYTE)
  })
})

describe('a broadcast without requests', () => {
  test('keeps its last group of pictures, and a window begins with that', async () => {
    const { packager, memory, send, playlist } = open()
    send(9, 1000)
    expect(memory.used).toBeLessThan(100_000)
    expect(packager.segment(0)).toBeUndefined()
    await packager.variant(reader)
    send(3, 1000)
    const { segments } = await playlist()
    expect([segments[0]?.sequence, segments[0]?.seconds]).toEqual([0, 2])
  })

  test('keeps no group of more than 8 MiB; its window begins with the next one', async () => {
    const { packager, memory, send, playlist } = open()
    send(1, 400_000)
    expect(memory.used).toBe(0)
    await packager.variant(reader)
    send(4)
    expect((await playlist()).segments[0]?.seconds).toBe(2)
  })

  test('is packaged until 60 s after the last request; later its sequence numbers go on', async () => {
    const { packager, memory, send, playlist } = open()
    send(0.2)
    await packager.variant(reader)
    send(70)
    expect(memory.used).toBeLessThan(100_000)
    expect(packager.segment(30)).toBeUndefined()
    send(4)
    const { segments } = await playlist()
    expect(segments[0]?.sequence).toBeGreaterThan(30)
    expect(segments.some(each => each.isDiscontinuous)).toBe(false)
  })

  test('has its last key frame as a file, for a thumbnail, and none while its codec changes', async () => {
    const { packager, publish, send } = open()
    expect(packager.keyFrame()).toBeUndefined()
    send(5, 1000)
    const [track] = await readMp4(packager.keyFrame() ?? new Uint8Array())
    expect([track?.width, track?.samples.map(({ isKey, data }) => [isKey, data.length])]).toEqual([
      64,
      [[true, 1004]],
    ])
    publish(video(5000, avcHeader(CONFIGS.avcHigh)))
    publish(video(5040, AVC.frame()))
    expect(packager.keyFrame()).toBeUndefined()
    publish(video(5080, AVC.keyFrame(50)))
    expect((await readMp4(packager.keyFrame() ?? new Uint8Array()))[0]?.width).toBe(1280)
  })

  test('is packaged all the time if it is recorded', () => {
    const { packager, send } = open({ isRecorded: true })
    send(10)
    expect(packager.segment(3)).toBeDefined()
  })
})

describe('requests', () => {
  test('for what does not come are late after three target durations, and 404 before the first segment after 6 s', async () => {
    const { packager, send, state } = open()
    send(0.2)
    const starting = packager.playlist(reader)
    state.now += 6000
    expect(await starting).toBe('not live')
    send(4.2)
    const [blocked, hinted] = [packager.playlist(reader, { sequence: 3 }), packager.part(2, 0, reader)]
    await Bun.sleep(0)
    state.now += 6000
    expect([await blocked, await hinted]).toEqual(['late', 'late'])
    expect(await packager.playlist(reader, { sequence: 5 })).toBe('too far')
    packager.close()
  })

  test('that find no place are full; those whose client hangs up are gone', async () => {
    const { packager, send } = open()
    send(4.6)
    await packager.variant(reader)
    send(4)
    expect(await packager.playlist({ take: () => undefined }, { sequence: 3 })).toBe('full')
    const controller = new AbortController()
    let places = 1
    const take = () => () => {
      places -= 1
    }
    const leaving = packager.playlist({ take, signal: controller.signal }, { sequence: 3 })
    controller.abort()
    expect([await leaving, places]).toEqual(['gone', 0])
    packager.close()
  })

  test('that wait are woken some at a time, and a message costs the same with thousands of them', async () => {
    const { packager, send } = open()
    send(0.2)
    await packager.variant(reader)
    send(2.2)
    const answers = Array.from({ length: 5000 }, () => packager.playlist(reader, { sequence: 1, part: 3 }))
    const began = performance.now()
    send(2)
    const sent = performance.now() - began
    let longest = 0
    let last = performance.now()
    const watching = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 1)
    const bodies = new Set(await Promise.all(answers))
    clearInterval(watching)
    // All of them share at most a few texts: one for each part that came meanwhile.
    expect(bodies.size).toBeLessThan(4)
    expect(sent).toBeLessThan(200)
    expect(longest).toBeLessThan(200)
    packager.close()
  })
})

test('a publisher that only breaks its broadcast makes few segments and takes little memory', async () => {
  const { packager, publish, state, memory, send } = open()
  send(0.2)
  await packager.variant(reader)
  const began = performance.now()
  for (let count = 0; count < 100_000; count++) {
    publish(video(0, count % 2 === 0 ? AVC.header : avcHeader(CONFIGS.avcHigh)))
    publish(video((count * 50_000) >>> 0, AVC.keyFrame(50)))
    state.now += 0.1
  }
  expect(performance.now() - began).toBeLessThan(10_000)
  expect(memory.used).toBeLessThan(MEBIBYTE)
  // Eight at once, and then two a second.
  const found = await packager.playlist(reader)
  const { segments } = parsePlaylist(typeof found === 'string' ? '' : await found.text())
  expect(segments.at(-1)?.sequence).toBeWithin(5, 60)
  packager.close()
})
