import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { type CryptoKey, calculateJwkThumbprint, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose'
import type { SigningKey } from '../contract/resources/openid.ts'
import { type DatedKey, type SigningPlan, signingPlan } from '../domain/oauth/signing-plan.ts'
import type { KeyRing } from '../kit/crypto/key-ring.ts'
import { SecretBox } from '../kit/crypto/secret-box.ts'
import { type Clock, isoMillis } from '../kit/time/clock.ts'
import type { SigningKeyRow } from '../store/queries/signing-keys.ts'
import type { Store } from '../store/store.ts'

const ALGORITHM = 'RS256'
const MODULUS_BITS = 2048
/** How long a node caches the keys. Shorter than the time between publishing a key and signing with it. */
const CACHE_MILLISECONDS = 60_000

/** In a separate thread, because it takes about 100 ms. */
const generateRsa = () => promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS })

interface LoadedKey extends DatedKey {
  readonly number: number
  readonly public_jwk: SigningKey
  readonly private_jwk: JWK | undefined
}

/**
 * The RSA keys that sign ID tokens, shared by all nodes through the store. The private key is sealed with a master key and
 * bound to the key id. The first key is created when it is first needed. After 90 days the next one is created: it is
 * published at once and signs 15 minutes later; its predecessor stays published for a day (`domain/oauth/signing-plan.ts`).
 */
export class SigningKeys {
  readonly #store: Pick<Store, 'signingKeys' | 'commands'>
  readonly #ring: KeyRing
  readonly #clock: Clock
  readonly #sealer: SigningKeySealer
  readonly #generate: typeof generateRsa
  readonly #imported = new Map<string, CryptoKey>()
  #cached:
    | { readonly keys: readonly LoadedKey[]; readonly until: number; readonly generation: number }
    | undefined
  #creating: Promise<void> | undefined

  constructor(
    store: Pick<Store, 'signingKeys' | 'commands'>,
    ring: KeyRing,
    clock: Clock,
    generate = generateRsa,
  ) {
    this.#generate = generate
    this.#store = store
    this.#ring = ring
    this.#clock = clock
    this.#sealer = new SigningKeySealer(ring)
  }

  /** Creates a key if there is none to sign with. */
  async prepare(): Promise<void> {
    await this.#signer()
  }

  async sign(claims: JWTPayload): Promise<string> {
    const { public_jwk, private_jwk } = await this.#signer()
    const { kid } = public_jwk
    const key = this.#imported.get(kid) ?? ((await importJWK(private_jwk, ALGORITHM)) as CryptoKey)
    this.#imported.set(kid, key)
    return new SignJWT(claims).setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid }).sign(key)
  }

  /** The public keys that verify ID tokens. */
  async published(): Promise<SigningKey[]> {
    await this.#signer()
    const { published } = await this.#plan()
    return published.map(key => key.public_jwk)
  }

  async #signer(): Promise<LoadedKey & { readonly private_jwk: JWK }> {
    const plan = await this.#plan()
    if (plan.signer === undefined) await this.#createNext()
    // The current key signs until the next one is ready; if creating it fails, the next call retries.
    else if (plan.isNextDue) this.#createNext().catch(() => undefined)
    const { signer } = plan.signer === undefined ? await this.#plan() : plan
    if (signer?.private_jwk === undefined) throw new Error('the new signing key cannot be read')
    return { ...signer, private_jwk: signer.private_jwk }
  }

  async #plan(): Promise<SigningPlan<LoadedKey>> {
    return signingPlan(await this.#keys(), this.#clock.now())
  }

  /** Cached for a minute; while the store is unavailable, the last keys that were read. */
  async #keys(): Promise<readonly LoadedKey[]> {
    const cached = this.#cached
    const { generation } = this.#ring
    if (cached?.generation === generation && performance.now() < cached.until) return cached.keys
    try {
      return await this.#read()
    } catch (error) {
      if (cached === undefined) throw error
      return cached.keys
    }
  }

  async #read(): Promise<readonly LoadedKey[]> {
    const { generation } = this.#ring
    const rows = await this.#store.signingKeys.all()
    const keys = rows.map(row => this.#load(row))
    const kids = new Set(rows.map(row => row.kid))
    for (const kid of this.#imported.keys()) if (!kids.has(kid)) this.#imported.delete(kid)
    this.#cached = { keys, until: performance.now() + CACHE_MILLISECONDS, generation }
    return keys
  }

  #load(row: SigningKeyRow): LoadedKey {
    const private_jwk = this.#sealer.open(row)
    return {
      number: row.number,
      created_at: row.created_at,
      public_jwk: JSON.parse(row.public_jwk),
      private_jwk,
      canSign: private_jwk !== undefined,
    }
  }

  #createNext(): Promise<void> {
    this.#creating ??= this.#create().finally(() => {
      this.#creating = undefined
    })
    return this.#creating
  }

  async #create(): Promise<void> {
    // Another node may have created a key in the meantime.
    const keys = await this.#read()
    if (!signingPlan(keys, this.#clock.now()).isNextDue) return
    const { privateKey, publicKey } = await this.#generate()
    const { n = '', e = '' } = publicKey.export({ format: 'jwk' })
    const kid = await calculateJwkThumbprint({ kty: 'RSA', n, e })
    const public_jwk: SigningKey = { kty: 'RSA', kid, use: 'sig', alg: ALGORITHM, n, e }
    await this.#store.commands.addSigningKey({
      key: {
        number: (keys[0]?.number ?? 0) + 1,
        kid,
        public_jwk: JSON.stringify(public_jwk),
        ...this.#sealer.seal(kid, privateKey.export({ format: 'jwk' }) as JWK),
        created_at: isoMillis(this.#clock.now()),
      },
    })
    await this.#read()
  }
}

/** Seals private signing keys, bound to the key id. */
export class SigningKeySealer {
  readonly #box: SecretBox

  constructor(ring: KeyRing) {
    this.#box = new SecretBox(ring, 'signing-key')
  }

  seal(kid: string, private_jwk: JWK) {
    return this.#box.seal(JSON.stringify(private_jwk), kid)
  }

  /** Undefined if no master key of this installation opens it. */
  open(row: Pick<SigningKeyRow, 'kid' | 'key_id' | 'sealed'>): JWK | undefined {
    const text = this.#box.open(row, row.kid)
    return text === undefined ? undefined : JSON.parse(text)
  }
}
