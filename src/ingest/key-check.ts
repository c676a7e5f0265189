import type { StreamKeys } from '../auth/stream-keys.ts'
import { readPublishName } from '../domain/publish-session.ts'
import { type Clock, isoMillis } from '../kit/clock.ts'
import { sha256Hex } from '../kit/digest.ts'
import { LruCache } from '../kit/lru-cache.ts'
import { toNetwork } from '../kit/network.ts'
import { TokenBuckets, takePoint } from '../kit/token-buckets.ts'
import { withTimeout } from '../kit/with-timeout.ts'
import { Unavailable } from '../store/errors.ts'
import type { KeyedChannel } from '../store/queries/stream-keys.ts'
import type { Store } from '../store/store.ts'

/** Wrong keys that one network may try at full speed; a correct key costs nothing. */
const GUESSES = { capacity: 20, fullAfterSeconds: 600 }
/** After that each key of the network waits before it is checked. A right one is still accepted: it cannot be guessed. */
const SLOWED_MILLISECONDS = 500
/** How long a key counts as valid while the store cannot be asked. */
const REMEMBERED_MILLISECONDS = 10 * 60_000
const MAX_REMEMBERED = 10_000
/** A media server waits for the answer, and some give up soon. */
const MAX_WAIT_MILLISECONDS = 1000
const failSlow = (): never => {
  throw new Unavailable('the store does not answer in time')
}

/** A channel that a stream key opens. */
export interface Channel {
  readonly user_id: string
  readonly login: string
}

/** Checks stream keys at ingest. */
export class KeyCheck {
  readonly #store: Store
  readonly #streamKeys: StreamKeys
  readonly #clock: Clock
  readonly #guesses = new TokenBuckets()
  /** By a digest of the key. */
  readonly #valid = new LruCache<KeyedChannel & { readonly at: number }>(MAX_REMEMBERED)

  constructor({ store, streamKeys, clock }: { store: Store; streamKeys: StreamKeys; clock: Clock }) {
    this.#store = store
    this.#streamKeys = streamKeys
    this.#clock = clock
  }

  /**
   * The channel of a publisher. Undefined: the key is wrong, or not the channel's. Without an address wrong keys are not
   * counted: one publisher could slow down the others.
   */
  async findChannel(name: string, address: string | undefined): Promise<Channel | undefined> {
    const bucket = address === undefined ? { points: 1 } : this.#guesses.get(toNetwork(address), GUESSES)
    if (bucket.points < 1) await Bun.sleep(SLOWED_MILLISECONDS)
    const credentials = readPublishName(name)
    const channel = credentials && (await this.#find(credentials.key))
    if (channel === 'unchecked') return undefined
    if (channel !== undefined && (credentials?.login ?? channel.login) === channel.login) return channel
    takePoint(bucket)
    return undefined
  }

  /** `unchecked`: the store does not answer, and the key is not remembered. It may be right, so it is no guess. */
  async #find(key: string): Promise<KeyedChannel | 'unchecked' | undefined> {
    const now = this.#clock.now()
    const digest = sha256Hex(key)
    try {
      const asked = this.#store.streamKeys.channelOf(this.#streamKeys.lookupHashes(key), isoMillis(now))
      const channel = await withTimeout(MAX_WAIT_MILLISECONDS, asked, failSlow)
      if (channel === undefined) this.#valid.delete(digest)
      else this.#valid.set(digest, { ...channel, at: now })
      return channel
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      const known = this.#valid.get(digest)
      if (known === undefined || now - known.at >= REMEMBERED_MILLISECONDS) return 'unchecked'
      return known.valid_until === null || known.valid_until > isoMillis(now) ? known : undefined
    }
  }
}
