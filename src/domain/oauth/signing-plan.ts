/** Which key signs ID tokens, which keys are published, and whether a new key is due. */

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const REPLACED_AFTER = 90 * DAY
/** A key is published this long before it signs: longer than nodes and HTTP caches keep the key list. */
const PUBLISHED_BEFORE = 15 * MINUTE
/** A key stays published this long after the next one takes over: longer than an ID token is valid. */
const PUBLISHED_AFTER = DAY

export interface DatedKey {
  readonly created_at: string
  /** Whether the private key can be decrypted: the master key that sealed it may be lost. */
  readonly canSign: boolean
}

export interface SigningPlan<Key> {
  /** Undefined if no key can sign. */
  readonly signer: Key | undefined
  readonly published: readonly Key[]
  readonly isNextDue: boolean
}

/** Expects the newest key first. */
export function signingPlan<Key extends DatedKey>(keys: readonly Key[], now: number): SigningPlan<Key> {
  const takesOver = (key: Key) => Date.parse(key.created_at) + PUBLISHED_BEFORE
  const able = keys.filter(key => key.canSign)
  const signer = able.find(key => takesOver(key) <= now) ?? able.at(-1)
  const published = keys.filter((key, index) => {
    const successor = keys[index - 1]
    return key === signer || successor === undefined || takesOver(successor) + PUBLISHED_AFTER > now
  })
  const newest = able[0]
  const isNextDue = newest === undefined || Date.parse(newest.created_at) + REPLACED_AFTER <= now
  return { signer, published, isNextDue }
}
