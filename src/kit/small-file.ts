import { closeSync, openSync, readSync } from 'node:fs'
import { OperatorError } from './operator-error.ts'

const PIECE_BYTES = 64 * 1024

/** Larger than any secret, key ring or passphrase. */
export const MAX_SECRET_FILE = 64 * 1024
/** Larger than any settings file or input of a command. */
export const MAX_INPUT_FILE = 16 * 1024 * 1024

/**
 * Reads a file that is expected to be small. Bytes are counted while reading instead of checking the size first, because
 * pipes and devices have no size.
 */
export function readSmallFile(path: string, most: number): string {
  const file = openSync(path, 'r')
  try {
    const pieces: Uint8Array[] = []
    for (let total = 0; ; ) {
      const piece = new Uint8Array(PIECE_BYTES)
      const bytes = readSync(file, piece, 0, PIECE_BYTES, null)
      if (bytes === 0) return Buffer.concat(pieces).toString('utf8')
      total += bytes
      if (total > most) throw tooLarge(path, most)
      pieces.push(piece.subarray(0, bytes))
    }
  } finally {
    closeSync(file)
  }
}

/** Reads standard input in the same way. */
export async function readSmallInput(chunks: AsyncIterable<Uint8Array>, most: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let total = 0
  for await (const piece of chunks) {
    total += piece.length
    if (total > most) throw tooLarge('standard input', most)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function tooLarge(what: string, most: number): OperatorError {
  return new OperatorError(`${what} is larger than ${most / 1024} KiB`)
}
