/**
 * A clip that is repeated without an end. It is a fragmented MP4: an init segment, and a fragment for every 2 s, which begins
 * with a key frame. Fragment n of the broadcast is fragment n mod k of the clip; only its decode times and its number differ.
 * They are written into a copy, so that a channel needs neither a timer nor memory.
 *
 * A loop is a whole number of pictures and of AAC frames (`npm run clips`): sound and picture never drift apart.
 */

export const LOOP_SECONDS = 12
export const FRAGMENT_SECONDS = 2
export const FRAGMENTS = LOOP_SECONDS / FRAGMENT_SECONDS

/** What all clips have in common, for playlists. */
export const CLIP_FORMAT = {
  codecs: 'avc1.64001f,mp4a.40.2',
  resolution: '640x360',
  frameRate: '15.000',
} as const

export interface Clip {
  /** Changes with the content: a part of URLs whose answers may be cached for ever. */
  readonly version: string
  readonly init: Uint8Array<ArrayBuffer>
  readonly fragments: readonly Fragment[]
  /** Bits per second: of the largest fragment, and of all. */
  readonly bandwidth: number
  readonly averageBandwidth: number
}

interface Fragment {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Where the number of the fragment is. */
  readonly sequence: number
  readonly decodeTimes: readonly DecodeTime[]
}

/** The decode time of a track: where it is, what it is in the clip, and by how much it grows in a loop. */
interface DecodeTime {
  readonly at: number
  readonly first: bigint
  readonly perLoop: bigint
}

export function readClip(file: Uint8Array<ArrayBuffer>): Clip {
  const boxes = [...listBoxes(file, 0, file.length)]
  const starts = boxes.filter(({ type }) => type === 'moof').map(({ start }) => start)
  const init = file.subarray(0, starts[0])
  const timescales = readTimescales(init)
  const fragments = starts.map((start, index) =>
    readFragment(file.subarray(start, starts[index + 1] ?? file.length), timescales),
  )
  if (fragments.length !== FRAGMENTS)
    throw new Error(`a clip has ${FRAGMENTS} fragments, not ${fragments.length}`)
  const bitrate = (bytes: number, seconds: number) => Math.ceil((bytes * 8) / seconds)
  return {
    version: Bun.hash.crc32(file).toString(16).padStart(8, '0'),
    init,
    fragments,
    bandwidth: bitrate(Math.max(...fragments.map(({ bytes }) => bytes.length)), FRAGMENT_SECONDS),
    averageBandwidth: bitrate(file.length, LOOP_SECONDS),
  }
}

/** The fragments of a broadcast from one number on, as bytes. */
export function repeatClip({ fragments }: Clip, from: number, count = 1): Uint8Array<ArrayBuffer> {
  const pieces: Uint8Array[] = []
  for (let number = from; number < from + count; number++) {
    const fragment = fragments[number % FRAGMENTS] as Fragment
    const bytes = fragment.bytes.slice()
    const view = new DataView(bytes.buffer)
    const loops = BigInt(Math.floor(number / FRAGMENTS))
    view.setUint32(fragment.sequence, number + 1)
    for (const { at, first, perLoop } of fragment.decodeTimes) view.setBigUint64(at, first + loops * perLoop)
    pieces.push(bytes)
  }
  return Buffer.concat(pieces)
}

interface Box {
  readonly type: string
  readonly start: number
  /** Where its content begins. */
  readonly content: number
  readonly end: number
}

const HEADER_BYTES = 8

function* listBoxes(bytes: Uint8Array, from: number, to: number): Generator<Box> {
  const view = viewBytes(bytes)
  for (let start = from; start < to; ) {
    const end = start + view.getUint32(start)
    const type = String.fromCharCode(...bytes.subarray(start + 4, start + HEADER_BYTES))
    yield { type, start, content: start + HEADER_BYTES, end }
    start = end
  }
}

/** All boxes at a path, such as `moov`, `trak`. */
function findBoxes(bytes: Uint8Array, path: readonly string[], from = 0, to = bytes.length): Box[] {
  const [type, ...below] = path
  const found = [...listBoxes(bytes, from, to)].filter(box => box.type === type)
  return below.length === 0 ? found : found.flatMap(box => findBoxes(bytes, below, box.content, box.end))
}

/** Units per second of the tracks, in their order: every fragment of a clip has all tracks in this order. */
function readTimescales(init: Uint8Array): number[] {
  // Behind version, flags and two times of 32 bits.
  return findBoxes(init, ['moov', 'trak', 'mdia', 'mdhd']).map(({ content }) =>
    viewBytes(init).getUint32(content + 12),
  )
}

function readFragment(bytes: Uint8Array<ArrayBuffer>, timescales: readonly number[]): Fragment {
  const [sequence] = findBoxes(bytes, ['moof', 'mfhd'])
  const times = findBoxes(bytes, ['moof', 'traf', 'tfdt'])
  // Version 1 has 64 bits.
  if (
    sequence === undefined ||
    times.length !== timescales.length ||
    times.some(box => bytes[box.content] !== 1)
  )
    throw new Error('a fragment has a number, and a decode time of 64 bits for each track')
  return {
    bytes,
    sequence: sequence.content + 4,
    decodeTimes: times.map(({ content }, track) => ({
      at: content + 4,
      first: viewBytes(bytes).getBigUint64(content + 4),
      perLoop: BigInt((timescales[track] as number) * LOOP_SECONDS),
    })),
  }
}

const viewBytes = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
