import { randomBytes, randomInt, randomUUID } from 'node:crypto'

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
/** 2024-01-01: decimal ids count milliseconds from here, which keeps them within 62 bits until 2093. */
const DECIMAL_EPOCH = 1_704_067_200_000
const DECIMAL_RANDOM_BITS = 20n

let lastDecimal = 0n

/** A decimal id for users, games, streams and videos: time-ordered, strictly rising within a process. */
export function decimalId(now: number): string {
  const random = BigInt(randomInt(1 << Number(DECIMAL_RANDOM_BITS)))
  const fresh = (BigInt(Math.max(now - DECIMAL_EPOCH, 0)) << DECIMAL_RANDOM_BITS) | random
  lastDecimal = fresh > lastDecimal ? fresh : lastDecimal + 1n
  return lastDecimal.toString()
}

/** Entitlements, benefits, organizations: 122 random bits, so that nobody finds one by guessing. */
export function uuid(): string {
  return randomUUID()
}

/** Markers: 32 lower-case hex. */
export function hexId(): string {
  return randomBytes(16).toString('hex')
}

/** Random base62 text; 27 characters carry 160 bits. */
export function randomAlphanumerics(length: number): string {
  return alphanumericsFrom(randomBytes(length * 2), length)
}

/** Base62 text of `length` characters drawn from `bytes`, without bias: values that would favour a letter are passed over. */
export function alphanumericsFrom(bytes: Uint8Array, length: number): string {
  let text = ''
  for (const byte of bytes) {
    if (text.length === length) return text
    if (byte < 248) text += ALPHANUMERIC[byte % 62]
  }
  if (text.length === length) return text
  return text + randomAlphanumerics(length - text.length)
}
