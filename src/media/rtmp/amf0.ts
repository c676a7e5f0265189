/** AMF0, the encoding of RTMP commands and of FLV metadata. Bounded: a small message cannot describe a large value. */
import { ProtocolError } from './protocol-error.ts'

/** Objects are maps, because their keys come from the peer. */
export type Amf = number | boolean | string | null | undefined | readonly Amf[] | ReadonlyMap<string, Amf>

const MARKER = {
  number: 0,
  boolean: 1,
  string: 2,
  object: 3,
  null: 5,
  undefined: 6,
  ecmaArray: 8,
  objectEnd: 9,
  strictArray: 10,
  date: 11,
  longString: 12,
} as const

const MAX_DEPTH = 8
/** Maximum values in one message, including those inside objects. */
const MAX_VALUES = 1000

const decoder = new TextDecoder('utf-8')

class Reader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #maxValues: number
  #at = 0
  #values = 0

  constructor(bytes: Uint8Array, maxValues: number) {
    this.#bytes = bytes
    this.#maxValues = maxValues
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get hasMore(): boolean {
    return this.#at < this.#bytes.length
  }

  value(depth = 0): Amf {
    if (depth > MAX_DEPTH) throw new ProtocolError('AMF0 value nested too deeply')
    this.#values += 1
    if (this.#values > this.#maxValues) throw new ProtocolError('too many AMF0 values')
    const marker = this.#view.getUint8(this.#advance(1))
    switch (marker) {
      case MARKER.number:
        return this.#view.getFloat64(this.#advance(8))
      case MARKER.boolean:
        return this.#view.getUint8(this.#advance(1)) !== 0
      case MARKER.string:
        return this.#text(this.#view.getUint16(this.#advance(2)))
      case MARKER.longString:
        return this.#text(this.#view.getUint32(this.#advance(4)))
      case MARKER.object:
        return this.#object(depth)
      case MARKER.ecmaArray:
        // The count is only a hint.
        this.#advance(4)
        return this.#object(depth)
      case MARKER.strictArray:
        return this.#array(depth)
      case MARKER.date: {
        const at = this.#view.getFloat64(this.#advance(8))
        this.#advance(2)
        return at
      }
      case MARKER.null:
        return null
      case MARKER.undefined:
        return undefined
      default:
        throw new ProtocolError(`unsupported AMF0 marker ${marker}`)
    }
  }

  #object(depth: number): ReadonlyMap<string, Amf> {
    const fields = new Map<string, Amf>()
    for (;;) {
      const name = this.#text(this.#view.getUint16(this.#advance(2)))
      if (name === '' && this.#bytes[this.#at] === MARKER.objectEnd) {
        this.#at += 1
        return fields
      }
      fields.set(name, this.value(depth + 1))
    }
  }

  #array(depth: number): readonly Amf[] {
    const count = this.#view.getUint32(this.#advance(4))
    if (count > this.#maxValues) throw new ProtocolError('too many AMF0 values')
    return Array.from({ length: count }, () => this.value(depth + 1))
  }

  #text(length: number): string {
    const start = this.#advance(length)
    return decoder.decode(this.#bytes.subarray(start, start + length))
  }

  /** The position of the next bytes, which must exist. */
  #advance(count: number): number {
    const start = this.#at
    if (start + count > this.#bytes.length) throw new ProtocolError('unexpected end of AMF0 data')
    this.#at = start + count
    return start
  }
}

/** The values of a message in order, or the first of them. */
export function decodeAmf(
  bytes: Uint8Array,
  { maxValues = MAX_VALUES, first = Number.POSITIVE_INFINITY } = {},
): Amf[] {
  const reader = new Reader(bytes, maxValues)
  const values: Amf[] = []
  while (reader.hasMore && values.length < first) values.push(reader.value())
  return values
}

export function encodeAmf(...values: readonly Amf[]): Buffer {
  return Buffer.concat(values.map(encodeValue))
}

function encodeValue(value: Amf): Buffer {
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9)
    bytes.writeDoubleBE(value, 1)
    return bytes
  }
  if (typeof value === 'boolean') return Buffer.from([MARKER.boolean, Number(value)])
  if (typeof value === 'string') return encodeString(value)
  if (value === null) return Buffer.from([MARKER.null])
  if (value === undefined) return Buffer.from([MARKER.undefined])
  if (isList(value)) {
    const head = Buffer.alloc(5, MARKER.strictArray)
    head.writeUInt32BE(value.length, 1)
    return Buffer.concat([head, ...value.map(encodeValue)])
  }
  const fields = [...value].flatMap(([name, field]) => [encodeName(name), encodeValue(field)])
  return Buffer.concat([Buffer.from([MARKER.object]), ...fields, Buffer.from([0, 0, MARKER.objectEnd])])
}

const isList = (value: readonly Amf[] | ReadonlyMap<string, Amf>): value is readonly Amf[] =>
  Array.isArray(value)

function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text)
  if (bytes.length <= 0xffff) return Buffer.concat([Buffer.from([MARKER.string]), encodeName(text)])
  const head = Buffer.alloc(5, MARKER.longString)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

function encodeName(text: string): Buffer {
  const bytes = Buffer.from(text)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}
