/** A broadcast without pictures: tags with the sizes and times of H.264 and AAC at a given rate. */
import { TYPE, writeChunks } from '../../src/media/rtmp/chunks.ts'
import type { MediaMessage } from '../../src/media/rtmp/publisher.ts'

export const FRAMES_PER_SECOND = 30
const SOUNDS_PER_SECOND = 48_000 / 1024
/** One key frame a second, as large as so many other frames. */
const KEY_FRAME_WEIGHT = 5
const SOUND_BYTES = 340
/** Headers are shorter than this, everything else is longer. */
export const MAX_HEADER_BYTES = 16
const CHUNK_BYTES = 4096

const HEADERS: readonly MediaMessage[] = [
  { kind: 'video', timestamp: 0, payload: Buffer.from([0x17, 0, 0, 0, 0, 1, 2, 3]) },
  { kind: 'audio', timestamp: 0, payload: Buffer.from([0xaf, 0, 0x11, 0x90]) },
]

export type Kind = 'video' | 'audio'

const PER_SECOND = { video: FRAMES_PER_SECOND, audio: SOUNDS_PER_SECOND } as const

/** The time of the n-th tag of a kind, and its number by that time. */
const timeOf = (kind: Kind, n: number): number => Math.round((n * 1000) / PER_SECOND[kind])
export const numberAt = (kind: Kind, milliseconds: number): number =>
  Math.round((milliseconds * PER_SECOND[kind]) / 1000)

export class SyntheticBroadcast {
  readonly #keyFrame: Buffer
  readonly #frame: Buffer
  readonly #sound = Buffer.concat([Buffer.from([0xaf, 1]), Buffer.alloc(SOUND_BYTES, 3)])
  readonly #next = { video: 0, audio: 0 }

  constructor(bitsPerSecond: number) {
    const videoBytes = bitsPerSecond / 8 - SOUNDS_PER_SECOND * SOUND_BYTES
    const bytes = Math.round(videoBytes / (FRAMES_PER_SECOND - 1 + KEY_FRAME_WEIGHT))
    this.#keyFrame = Buffer.concat([
      Buffer.from([0x17, 1, 0, 0, 0]),
      Buffer.alloc(KEY_FRAME_WEIGHT * bytes, 1),
    ])
    this.#frame = Buffer.concat([Buffer.from([0x27, 1, 0, 0, 0]), Buffer.alloc(bytes, 2)])
  }

  get headers(): readonly MediaMessage[] {
    return HEADERS
  }

  /** The next message if its time has come. */
  take(passedMilliseconds: number): (MediaMessage & { readonly kind: Kind }) | undefined {
    const times = { video: timeOf('video', this.#next.video), audio: timeOf('audio', this.#next.audio) }
    const kind = times.video <= times.audio ? 'video' : 'audio'
    if (times[kind] > passedMilliseconds) return undefined
    const n = this.#next[kind]++
    const picture = n % FRAMES_PER_SECOND === 0 ? this.#keyFrame : this.#frame
    return { kind, timestamp: times[kind], payload: kind === 'video' ? picture : this.#sound }
  }
}

/** A message as a publisher sends it. */
export function asChunks({ kind, timestamp, payload }: MediaMessage): Buffer {
  const [stream, type] = kind === 'video' ? [6, TYPE.video] : [4, TYPE.audio]
  return writeChunks(stream, { type, streamId: 1, timestamp, payload }, CHUNK_BYTES)
}
