import { timingSafeEqual } from 'node:crypto'

export function sha256Hex(text: string): string {
  return Bun.SHA256.hash(text, 'hex')
}

export function sha256Base64url(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('base64url')
}

export function hmacSha256(key: Uint8Array, text: string): Buffer {
  return new Bun.CryptoHasher('sha256', key).update(text).digest()
}

/** Compares two secrets by their digests, in constant time. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(Bun.SHA256.hash(a), Bun.SHA256.hash(b))
}

/** CRC-32 of the text as six base62 digits, to recognize a mistyped token without a look-up. */
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
