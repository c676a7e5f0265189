const HEADER_BYTES = 22

/** A PNG as the only picture of an ICO file. */
export function wrapInIco(png: Uint8Array, side: number): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt16LE(1, 2)
  header.writeUInt16LE(1, 4)
  header[6] = side
  header[7] = side
  header.writeUInt16LE(1, 10)
  header.writeUInt16LE(32, 12)
  header.writeUInt32LE(png.length, 14)
  header.writeUInt32LE(HEADER_BYTES, 18)
  return Buffer.concat([header, png])
}
