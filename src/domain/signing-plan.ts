/** Which of the keys for ID tokens signs, which are published, and whether the next one is due. */

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const REPLACED_AFTER = 90 * DAY
/** A key is published this long before it signs: longer than nodes and HTTP caches keep the list of keys. */
const PUBLISHED_BEFORE = 15 * MINUTE
/** And this long after the next one took over: longer than an ID token is valid. */
const PUBLISHED_AFTER = DAY

export interface DatedKey {
  readonly created_at: string
  /** Whether its private half can be read: the master key that sealed it may have been lost. */
  readonly canSign: boolean
}

export interface SigningPlan<Key> {
  /** Undefined if there is no key that can sign. */
  readonly signer: Key | undefined
  readonly published: readonly Key[]
  readonly isNextDue: boolean
}

/** The keys are given newest first. */
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
