import { createHash, timingSafeEqual } from 'node:crypto'

export function sha256Hex(text: string): string {
  return Bun.CryptoHasher.hash('sha256', text, 'hex')
}

export function hmacSha256(key: Uint8Array, text: string): Buffer {
  return Buffer.from(new Bun.CryptoHasher('sha256', key).update(text).digest())
}

/** Compares two secrets by their digests: the time taken tells nothing about either. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest())
}

/** CRC-32 of the text as six base62 digits, to tell a mistyped token from an unknown one without a look-up. */
export function crc32Base62(text: string): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let rest = Bun.hash.crc32(text)
  let out = ''
  for (let i = 0; i < 6; i++) {
    out = digits[rest % 62] + out
    rest = Math.floor(rest / 62)
  }
  return out
}
