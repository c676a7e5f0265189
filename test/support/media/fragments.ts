/** Reads the fragments of an MP4 without code of the program: the times, numbers and sizes in `moof` boxes. */

export interface TrackFragment {
  readonly track: number
  readonly decodeTime: bigint
  readonly durations: readonly number[]
  readonly bytes: number
}

export interface ReadFragment {
  readonly sequence: number
  readonly tracks: readonly TrackFragment[]
  readonly payload: Uint8Array
}

interface Box {
  readonly type: string
  readonly content: DataView
}

function listBoxes(view: DataView): Box[] {
  const boxes: Box[] = []
  for (let at = 0; at < view.byteLength; ) {
    const size = view.getUint32(at)
    if (size < 8 || at + size > view.byteLength) throw new Error(`a box of ${size} bytes at ${at}`)
    const type = String.fromCharCode(...[4, 5, 6, 7].map(offset => view.getUint8(at + offset)))
    boxes.push({ type, content: new DataView(view.buffer, view.byteOffset + at + 8, size - 8) })
    at += size
  }
  return boxes
}

const viewBytes = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

function one(boxes: readonly Box[], type: string): DataView {
  const found = boxes.filter(box => box.type === type)
  if (found.length !== 1) throw new Error(`${found.length} boxes ${type}`)
  return (found[0] as Box).content
}

export const boxTypes = (bytes: Uint8Array): string[] => listBoxes(viewBytes(bytes)).map(({ type }) => type)

export function readFragments(bytes: Uint8Array): ReadFragment[] {
  const boxes = listBoxes(viewBytes(bytes))
  return boxes.flatMap(({ type, content }, index) => {
    if (type !== 'moof') return []
    const inside = listBoxes(content)
    const payload = boxes[index + 1]
    if (payload?.type !== 'mdat') throw new Error('a moof without an mdat')
    return {
      sequence: one(inside, 'mfhd').getUint32(4),
      tracks: inside.filter(box => box.type === 'traf').map(box => readTrack(listBoxes(box.content))),
      payload: new Uint8Array(payload.content.buffer, payload.content.byteOffset, payload.content.byteLength),
    }
  })
}

/** A flag, and how many bytes its field has. */
const TFHD_FIELDS = [
  [0x1, 8, 'base'],
  [0x2, 4, 'description'],
  [0x8, 4, 'duration'],
  [0x10, 4, 'size'],
  [0x20, 4, 'flags'],
] as const
const TRUN_FIELDS = [
  [0x100, 'duration'],
  [0x200, 'size'],
  [0x400, 'flags'],
  [0x800, 'offset'],
] as const

function readTrack(boxes: readonly Box[]): TrackFragment {
  const head = one(boxes, 'tfhd')
  const defaults: Record<string, number> = {}
  let at = 8
  for (const [flag, size, name] of TFHD_FIELDS) {
    if ((head.getUint32(0) & flag) === 0) continue
    defaults[name] = head.getUint32(at)
    at += size
  }
  const run = one(boxes, 'trun')
  const flags = run.getUint32(0)
  const samples: Record<string, number>[] = []
  at = 8 + (flags & 0x1 ? 4 : 0) + (flags & 0x4 ? 4 : 0)
  for (let left = run.getUint32(4); left > 0; left--) {
    const sample = { ...defaults }
    for (const [flag, name] of TRUN_FIELDS) {
      if ((flags & flag) === 0) continue
      sample[name] = run.getUint32(at)
      at += 4
    }
    samples.push(sample)
  }
  if (at !== run.byteLength) throw new Error('a trun of another length')
  return {
    track: head.getUint32(4),
    decodeTime: one(boxes, 'tfdt').getBigUint64(4),
    durations: samples.map(({ duration = 0 }) => duration),
    bytes: samples.reduce((sum, { size = 0 }) => sum + size, 0),
  }
}
