import { describe, expect, test } from 'bun:test'
import { BATCH_MILLISECONDS, Broadcast, type Viewer } from '../../src/media/broadcast.ts'
import { classifyMessage, FLV_HEADER, flvTag } from '../../src/media/flv.ts'
import type { MediaMessage } from '../../src/media/rtmp/publisher.ts'
import { HttpViewer } from '../../src/media/viewer.ts'
import { AVC } from '../support/media/rtmp-client.ts'

const video = (timestamp: number, payload: Uint8Array): MediaMessage => ({
  kind: 'video',
  timestamp,
  payload,
})
const header = video(0, AVC.header)
const key = (timestamp: number, bytes?: number) => video(timestamp, AVC.keyFrame(bytes))
const frame = (timestamp: number, bytes?: number) => video(timestamp, AVC.frame(bytes))

/** Takes everything while `takes` is true. */
class Recorder implements Viewer {
  takes = true
  hasEnded = false
  readonly writes: Buffer[] = []

  write(pieces: readonly Uint8Array[]): boolean {
    if (this.takes) this.writes.push(Buffer.concat(pieces))
    return this.takes
  }

  end(): void {
    this.hasEnded = true
  }

  get received(): Buffer {
    return Buffer.concat(this.writes)
  }
}

/** `send` publishes without waiting for what could be sent together. */
const newBroadcast = () => {
  const totals = { bytes: 0, skips: 0 }
  const broadcast = new Broadcast(totals)
  const send = (...messages: readonly MediaMessage[]) => {
    for (const message of messages) {
      broadcast.publish(message)
      broadcast.flush()
    }
  }
  return { broadcast, send, totals }
}
const file = (...messages: readonly MediaMessage[]) => Buffer.concat([FLV_HEADER, ...messages.map(flvTag)])

describe('a viewer', () => {
  test('that joins gets headers and everything since the last key frame', () => {
    const { broadcast, send } = newBroadcast()
    send(header, key(0), frame(40), key(80), frame(120))
    const viewer = new Recorder()
    broadcast.join(viewer)
    send(frame(160))
    expect(viewer.received).toEqual(file(header, key(80), frame(120), frame(160)))
  })

  test('that joins before the first key frame waits for it', () => {
    const { broadcast, send } = newBroadcast()
    send(header)
    const viewer = new Recorder()
    broadcast.join(viewer)
    send(frame(0))
    send(key(40))
    expect(viewer.received).toEqual(file(header, header, key(40)))
  })

  test('that is too slow continues at the next key frame, and others do not notice', () => {
    const { broadcast, send, totals } = newBroadcast()
    const [slow, fast] = [new Recorder(), new Recorder()]
    send(header, key(0))
    broadcast.join(slow)
    broadcast.join(fast)
    slow.takes = false
    send(frame(40))
    slow.takes = true
    send(frame(80))
    send(key(120))
    expect(slow.received).toEqual(file(header, key(0), header, key(120)))
    expect(fast.received).toEqual(file(header, key(0), frame(40), frame(80), key(120)))
    expect(totals.skips).toBe(1)
  })

  test('gets sound without a picture', () => {
    const { broadcast, send } = newBroadcast()
    const audio = (timestamp: number): MediaMessage => ({
      kind: 'audio',
      timestamp,
      payload: Buffer.from([0xaf, 1, 7]),
    })
    send(audio(0))
    const viewer = new Recorder()
    broadcast.join(viewer)
    send(audio(20))
    expect(viewer.received).toEqual(file(audio(20)))
  })

  test('sees the end', () => {
    const { broadcast } = newBroadcast()
    const viewer = new Recorder()
    broadcast.join(viewer)
    broadcast.end()
    expect(viewer.hasEnded).toBeTrue()
    expect(broadcast.viewerCount).toBe(0)
  })
})

describe('tags', () => {
  test('that arrive together are sent together, soon after the first, a key frame first', async () => {
    const { broadcast } = newBroadcast()
    const viewer = new Recorder()
    broadcast.publish(header)
    broadcast.join(viewer)
    for (const message of [frame(0), key(40), frame(80), frame(120)]) broadcast.publish(message)
    expect(viewer.writes).toEqual([file(header)])
    await Bun.sleep(2 * BATCH_MILLISECONDS)
    expect(viewer.writes).toHaveLength(2)
    expect(viewer.received).toEqual(file(header, header, key(40), frame(80), frame(120)))
  })

  test('that were not sent yet reach one who joins once', async () => {
    const { broadcast } = newBroadcast()
    const viewer = new Recorder()
    for (const message of [header, key(0), frame(40)]) broadcast.publish(message)
    broadcast.join(viewer)
    broadcast.publish(frame(80))
    await Bun.sleep(2 * BATCH_MILLISECONDS)
    expect(viewer.received).toEqual(file(header, key(0), frame(40), frame(80)))
  })

  test('that were not sent yet are sent before the end', () => {
    const { broadcast, send } = newBroadcast()
    const viewer = new Recorder()
    send(header, key(0))
    broadcast.join(viewer)
    broadcast.publish(frame(40))
    broadcast.end()
    expect(viewer.received).toEqual(file(header, key(0), frame(40)))
  })
})

test('a group of pictures that is too large is not kept for those who join', () => {
  const { broadcast, send } = newBroadcast()
  send(header)
  send(key(0, 5_000_000))
  send(frame(40, 5_000_000))
  const viewer = new Recorder()
  broadcast.join(viewer)
  expect(viewer.received).toEqual(file(header))
  send(key(80))
  expect(viewer.received).toEqual(file(header, header, key(80)))
})

test.each([
  ['H.264', [0x17, 0], 'header'],
  ['H.264', [0x17, 1], 'key frame'],
  ['H.264', [0x27, 1], 'frame'],
  ['the end of H.264', [0x17, 2], 'frame'],
  ['enhanced', [0x90, 0x68], 'header'],
  ['enhanced', [0x91, 0x68], 'key frame'],
  ['enhanced', [0x93, 0x68], 'key frame'],
  ['enhanced', [0xa1, 0x68], 'frame'],
  ['the end of enhanced', [0x92, 0x68], 'frame'],
  ['the colours of enhanced', [0x94, 0x68], 'frame'],
] as const)('video of %s that begins with %p is a %s', (_, payload, role) => {
  expect(classifyMessage(video(0, Buffer.from([...payload, 0, 0, 0])))).toBe(role)
})

describe('over HTTP', () => {
  test('what waits for a viewer is sent together, and bounded', async () => {
    const viewer = new HttpViewer(() => undefined)
    const taken = Array.from({ length: 100 }, () => viewer.write([Buffer.alloc(100_000)]))
    expect(taken.filter(Boolean)).toHaveLength(41)
    viewer.end()
    let bytes = 0
    for await (const piece of viewer.stream) bytes += piece.length
    expect(bytes).toBe(41 * 100_000)
  })

  test('a viewer may begin with more than may wait for it', () => {
    const { broadcast, send } = newBroadcast()
    const viewer = new HttpViewer(() => undefined)
    send(header, key(0, 3_000_000), frame(40, 3_000_000))
    broadcast.join(viewer)
    expect(viewer.write([Buffer.alloc(1)])).toBeFalse()
    viewer.end()
  })

  test('a viewer that disconnects leaves', async () => {
    let hasLeft = false
    const viewer = new HttpViewer(() => {
      hasLeft = true
    })
    await viewer.stream.cancel()
    expect(hasLeft).toBeTrue()
  })
})
