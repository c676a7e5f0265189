import { randomInteger } from './random-integer.ts'

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
/** 2024-01-01: decimal ids count milliseconds from here. With the random part they stay below 2^53 until 2093. */
const DECIMAL_EPOCH = 1_704_067_200_000
const DECIMAL_RANDOM = 4096

let decimalPlace = randomInteger(0, DECIMAL_RANDOM)
let lastDecimal = 0

/**
 * A decimal id for users, games, streams and videos: time-ordered, strictly rising within a process, and a number that
 * JavaScript holds exactly, because some callers send ids as numbers. A process draws its place among the ids of a
 * millisecond once: if it drew one for each id, processes that create thousands per second would meet all the time.
 */
export function decimalId(now: number): string {
  const fresh = Math.max(now - DECIMAL_EPOCH, 0) * DECIMAL_RANDOM + decimalPlace
  lastDecimal = Math.max(fresh, lastDecimal + 1)
  return String(lastDecimal)
}

/** Draws another place, after an id was taken: another process may have the same one. */
export function moveDecimalIds(): void {
  decimalPlace = randomInteger(0, DECIMAL_RANDOM)
}

/** Entitlements, benefits, organizations: 122 random bits, so that ids cannot be guessed. */
export function uuid(): string {
  return crypto.randomUUID()
}

/** A UUID that sorts after earlier ones. */
export function uuidV7(): string {
  return Bun.randomUUIDv7()
}

/** Markers: 32 lower-case hex digits, time-ordered, so that markers created together are adjacent on disk. */
export function hexId(): string {
  return Bun.randomUUIDv7('buffer').toString('hex')
}

/** Random base62 text; 27 characters carry 160 bits. */
export function randomAlphanumerics(length: number): string {
  return alphanumericsFrom(crypto.getRandomValues(new Uint8Array(length * 2)), length)
}

/** Base62 text of `length` characters drawn from `bytes`, without bias: bytes that would favour a character are skipped. */
export function alphanumericsFrom(bytes: Uint8Array, length: number): string {
  let text = ''
  for (const byte of bytes) {
    if (text.length === length) return text
    if (byte < 248) text += ALPHANUMERIC[byte % 62]
  }
  if (text.length === length) return text
  return text + randomAlphanumerics(length - text.length)
}

/** Letters that are not easily confused and form no words. */
const CLEAR_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'

export function randomLetters(length: number): string {
  return Array.from({ length }, () => CLEAR_LETTERS[randomInteger(0, CLEAR_LETTERS.length)]).join('')
}
