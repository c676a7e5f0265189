import { randomBytes, scryptSync } from 'node:crypto'
import { decrypt, encrypt } from '../kit/secret-box.ts'

/** Each guess takes about a third of a second and 128 MB. */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }
const SALT_BYTES = 16
const FIRST_LINE =
  'strand sealed secret 1: scrypt N=131072 r=8 p=1, AES-256-GCM; salt, nonce, text and tag in base64'

/** Seals a secret with a passphrase. `name` is authenticated with it, so that secrets cannot be swapped. */
export function sealWithPassphrase(secret: string, name: string, passphrase: string): string {
  const salt = randomBytes(SALT_BYTES)
  const sealed = encrypt(scryptSync(passphrase, salt, 32, COST), secret, name)
  return `${FIRST_LINE}\n${Buffer.concat([salt, sealed]).toString('base64')}\n`
}

/** The secret, or undefined if the passphrase is wrong or the bytes were altered. */
export function openWithPassphrase(sealed: string, name: string, passphrase: string): string | undefined {
  const [first, encoded = ''] = sealed.split('\n')
  const bytes = Buffer.from(encoded, 'base64')
  if (first !== FIRST_LINE || bytes.length < SALT_BYTES) return undefined
  const key = scryptSync(passphrase, bytes.subarray(0, SALT_BYTES), 32, COST)
  return decrypt(key, bytes.subarray(SALT_BYTES), name)
}
