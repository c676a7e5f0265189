import { randomBytes, scryptSync } from 'node:crypto'
import { decrypt, encrypt } from '../kit/crypto/secret-box.ts'

/** Each guess takes about a third of a second and 128 MB. */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }
const SALT_BYTES = 16
const FIRST_LINE =
  'strand sealed secret 1: scrypt N=131072 r=8 p=1, AES-256-GCM; salt, nonce, text and tag in base64'

/** Seals and opens secrets. Those of one backup share a salt, so that the key is derived once. */
export class Passphrase {
  readonly #text: string
  readonly #salt = randomBytes(SALT_BYTES)
  readonly #keys = new Map<string, Buffer>()

  constructor(text: string) {
    this.#text = text
  }

  /** `name` is authenticated with the secret, so that secrets cannot be swapped. */
  seal(secret: string, name: string): string {
    const sealed = encrypt(this.#keyFor(this.#salt), secret, name)
    return `${FIRST_LINE}\n${Buffer.concat([this.#salt, sealed]).toString('base64')}\n`
  }

  /** The secret, or undefined if the passphrase is wrong or the bytes were altered. */
  open(sealed: string, name: string): string | undefined {
    const [first, encoded = ''] = sealed.split('\n')
    const bytes = Buffer.from(encoded, 'base64')
    if (first !== FIRST_LINE || bytes.length < SALT_BYTES) return undefined
    return decrypt(this.#keyFor(bytes.subarray(0, SALT_BYTES)), bytes.subarray(SALT_BYTES), name)
  }

  #keyFor(salt: Buffer): Buffer {
    const known = this.#keys.get(salt.toString('base64'))
    const key = known ?? scryptSync(this.#text, salt, 32, COST)
    this.#keys.set(salt.toString('base64'), key)
    return key
  }
}
