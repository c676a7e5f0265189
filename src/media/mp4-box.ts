/** Boxes of MP4 (ISO/IEC 14496-12) as bytes. */

export const zeros = (count: number): Buffer => Buffer.alloc(count)
export const text = (value: string): Buffer => Buffer.from(value, 'latin1')

export function uint16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, 2 * index)
  return bytes
}

export function uint32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index)
  return bytes
}

/** No rotation and no scaling. */
export const MATRIX: Uint8Array = uint32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
/** The language is not known: `und`, five bits for each letter. */
export const UNKNOWN_LANGUAGE = 0x55c4
export const ENABLED_AND_IN_MOVIE = 3

export function box(type: string, ...content: readonly Uint8Array[]): Buffer {
  const size = content.reduce((sum, { length }) => sum + length, 8)
  return Buffer.concat([uint32(size), text(type), ...content])
}

export function fullBox(
  type: string,
  version: number,
  flags: number,
  ...content: readonly Uint8Array[]
): Buffer {
  return box(type, uint32(version * 0x1000000 + flags), ...content)
}
