import { promisify } from 'node:util'
import { crc32, deflate as deflateWithCallback } from 'node:zlib'
import type { Raster } from './raster.ts'

const deflate = promisify(deflateWithCallback)

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const BITS_PER_PIXEL = 8
const PALETTE_COLOUR = 3

/** A raster as PNG. The runtime compresses it in another thread. */
export async function encodePng({ width, height, palette, rows }: Raster): Promise<Uint8Array<ArrayBuffer>> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = BITS_PER_PIXEL
  header[9] = PALETTE_COLOUR
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', await deflate(rows)),
    chunk('IEND', new Uint8Array()),
  ])
}

/** Length, type and content, and the checksum of the latter two. */
function chunk(type: string, content: Uint8Array): Buffer {
  const bytes = Buffer.alloc(content.length + 12)
  bytes.writeUInt32BE(content.length, 0)
  bytes.write(type, 4, 'latin1')
  bytes.set(content, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4)
  return bytes
}
