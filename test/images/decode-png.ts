/** Reads a PNG as a strict decoder would, independent of the encoder. */
import { crc32, inflateSync } from 'node:zlib'

export interface Decoded {
  readonly width: number
  readonly height: number
  /** Each as `#rrggbb`. */
  readonly palette: readonly string[]
  /** Palette indices, row by row. */
  readonly pixels: Uint8Array
}

const SIGNATURE = '89504e470d0a1a0a'

/** Throws if anything is not as the specification has it: order, lengths, checksums, filters, indices. */
export function decodePng(file: Uint8Array): Decoded {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length)
  require(bytes.toString('hex', 0, 8) === SIGNATURE, 'signature')
  const chunks = chunksOf(bytes)
  require(chunks.map(({ type }) => type).join() === 'IHDR,PLTE,IDAT,IEND', 'order of chunks')
  const [header, colours, compressed, end] = chunks.map(({ content }) => content) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ]
  require(header.length === 13 && end.length === 0, 'lengths')
  // 8 bits, palette, deflate, adaptive filters, not interlaced.
  require(header.toString('hex', 8) === '0803000000', 'header')
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  require(colours.length % 3 === 0 && colours.length >= 3 && colours.length <= 768, 'palette')
  const palette = Array.from(
    { length: colours.length / 3 },
    (_, index) => `#${colours.toString('hex', index * 3, index * 3 + 3)}`,
  )
  const rows = inflateSync(compressed)
  require(rows.length === height * (width + 1), 'size of the image data')
  const pixels = new Uint8Array(width * height)
  for (let y = 0; y < height; y++) {
    const start = y * (width + 1)
    require(rows[start] === 0, 'filter')
    pixels.set(rows.subarray(start + 1, start + 1 + width), y * width)
  }
  require(pixels.every(index => index < palette.length), 'index outside the palette')
  return { width, height, palette, pixels }
}

function chunksOf(bytes: Buffer): { type: string; content: Buffer }[] {
  const chunks: { type: string; content: Buffer }[] = []
  let at = 8
  while (at < bytes.length) {
    const length = bytes.readUInt32BE(at)
    const end = at + 8 + length
    require(bytes.readUInt32BE(end) === crc32(bytes.subarray(at + 4, end)), 'checksum')
    chunks.push({ type: bytes.toString('latin1', at + 4, at + 8), content: bytes.subarray(at + 8, end) })
    at = end + 4
  }
  require(at === bytes.length, 'end of file')
  return chunks
}

function require(isRight: boolean, what: string): void {
  if (!isRight) throw new Error(`not a PNG: ${what}`)
}
