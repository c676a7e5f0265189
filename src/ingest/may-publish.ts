/**
 * Who may publish. An encoder presents a stream key, to the embedded media server (`embedded.ts`) or to another one that
 * asks Strand in a callback (`hooks.ts`). Both ask `MayPublish.decide`, which answers yes, or no with the reason.
 *
 * The rules, in the order in which they are applied:
 *
 * | Rule | If it does not hold |
 * |---|---|
 * | 1. The network has tried fewer than 20 wrong keys, one of which is forgiven every 30 s. | The answer waits for half a second. |
 * | 2. The publish name has one key: `<key>`, or `<login>?key=<key>` (also `token` or `pass`). | `wrong_key` |
 * | 3. The key opens a channel: its main key, an earlier main key or an extra key (D-120), not expired, of a user who is not suspended (D-270). | `wrong_key` |
 * | 4. The login in the name, if there is one, is the login of that channel. | `wrong_key` |
 * | 5. The channel still exists, and its user has not been suspended meanwhile. | `not_found`, `user_suspended` |
 * | 6. The session did not end in the last 5 s: otherwise the question is late or repeated. | `session_ended` |
 * | 7. No other publisher of the channel is live, or it is silent, or the channel lets the second one take over. | `channel_busy` |
 *
 * The store decides rules 5 to 7 in the transaction that opens the session (`admit` in `domain/publish-session.ts`), so two
 * publishers that arrive together, on any nodes, cannot both be the only one.
 *
 * An outage of the store must not end broadcasts. While the store does not answer:
 * - a key that this process has seen accepted in the last ten minutes still counts, unless it has expired since. Any other
 *   key is refused, but not counted as wrong, because it may be right;
 * - instead of rules 5 to 7, the publisher may start if the embedded media server has no other publisher of the channel;
 *   other media servers decide that themselves. The session is opened when the store answers, and if the store then refuses,
 *   the publisher is disconnected.
 *
 * What must hold:
 * - A right key is accepted however many wrong ones its network has tried: other people must not be able to lock out a
 *   broadcaster. Slowing down is enough, because a key cannot be guessed.
 * - A right key costs no point of rule 1, and neither does one that could not be checked.
 * - Between the check for another publisher in this process and the reservation of the channel, nothing else runs.
 *
 * Decided elsewhere: how many connections there may be, and what a connection may send before it publishes
 * (`media/rtmp-server.ts`, D-126); whether a callback has the secret of its media server (`hooks.ts`); publishers that a
 * media server let in without asking (`reconcile.ts`, D-125). The application name of RTMP is ignored.
 */
import type { StreamKeys } from '../auth/stream-keys.ts'
import { isRefusal, type Refusal } from '../contract/problem.ts'
import type { SecondPublisher } from '../contract/resources/channel.ts'
import { readPublishName } from '../domain/publish-session.ts'
import { sha256Hex } from '../kit/crypto/digest.ts'
import { LruCache } from '../kit/lru-cache.ts'
import { toNetwork } from '../kit/network.ts'
import { TokenBuckets, takePoint } from '../kit/queues/token-buckets.ts'
import { type Clock, isoMillis } from '../kit/time/clock.ts'
import { withTimeout } from '../kit/time/with-timeout.ts'
import type { OpenedSession } from '../store/commands/publish-sessions.ts'
import { Conflict, Unavailable } from '../store/errors.ts'
import type { KeyedChannel } from '../store/queries/stream-keys.ts'
import type { Store } from '../store/store.ts'

/** Wrong keys that one network may try at full speed. */
const GUESSES = { capacity: 20, fullAfterSeconds: 600 }
const SLOWED_MILLISECONDS = 500
/** How long a key counts as valid while the store does not answer. */
const REMEMBERED_MILLISECONDS = 10 * 60_000
const MAX_REMEMBERED = 10_000
/** How long a key waits for the store: some media servers give up soon. */
const MAX_WAIT_MILLISECONDS = 1000
const failSlow = (): never => {
  throw new Unavailable('the store does not answer in time')
}

/** A channel that a stream key opens. */
export interface Channel {
  readonly user_id: string
  readonly login: string
}

export type SessionRefusal = Refusal<'not_found' | 'user_suspended' | 'channel_busy' | 'session_ended'>

/** A publisher with a valid key, as its media server handles it. */
export interface PublishAttempt {
  /** Opens the session in the store, which applies rules 5 to 7. */
  open(): Promise<OpenedSession | SessionRefusal>
  /** How long the media server waits for `open`. Default: as long as the store does. */
  readonly maxWaitMilliseconds?: number
  /** Called after `channel_busy`. True: the other publisher may have ended without notice, so it is worth asking again. */
  otherMayHaveEnded?(): Promise<boolean>
  /** Called after this publisher took over from another one, before the answer. */
  tookOver?(): Promise<void>
  /** Reserves the channel in this process while the store does not answer; false if it has another publisher here. */
  reserve?(): boolean
}

export type PublishDecision<Attempt> =
  | {
      readonly kind: 'allowed'
      readonly channel: Channel
      readonly attempt: Attempt
      /** Undefined: the session must be opened later, because the store does not answer. */
      readonly opened: OpenedSession | undefined
    }
  | { readonly kind: 'refused'; readonly reason: 'wrong_key' | SessionRefusal['problem'] }

export class MayPublish {
  readonly #store: Store
  readonly #streamKeys: StreamKeys
  readonly #clock: Clock
  readonly #guesses = new TokenBuckets()
  /** The channels of valid keys, by a digest of the key. */
  readonly #valid = new LruCache<KeyedChannel & { readonly at: number }>(MAX_REMEMBERED)

  constructor({ store, streamKeys, clock }: { store: Store; streamKeys: StreamKeys; clock: Clock }) {
    this.#store = store
    this.#streamKeys = streamKeys
    this.#clock = clock
  }

  /**
   * Applies all rules. `begin` is called if the key is valid; it returns undefined if the media server asks about the key
   * alone. Without an address, wrong keys are not counted: one publisher could slow down all others behind the same proxy.
   */
  async decide<Attempt extends PublishAttempt | undefined>(
    { name, address }: { readonly name: string; readonly address: string | undefined },
    begin: (channel: Channel) => Attempt,
  ): Promise<PublishDecision<Attempt>> {
    const channel = await this.#findChannel(name, address)
    if (channel === undefined) return { kind: 'refused', reason: 'wrong_key' }
    const attempt = begin(channel)
    const opened = attempt && (await openUnlessAway(attempt))
    if (isRefusal(opened)) return { kind: 'refused', reason: opened.problem }
    if (opened === undefined && attempt?.reserve?.() === false)
      return { kind: 'refused', reason: 'channel_busy' }
    return { kind: 'allowed', channel, attempt, opened }
  }

  /** Rules 1 to 4. */
  async #findChannel(name: string, address: string | undefined): Promise<Channel | undefined> {
    const bucket = address === undefined ? { points: 1 } : this.#guesses.get(toNetwork(address), GUESSES)
    if (bucket.points < 1) await Bun.sleep(SLOWED_MILLISECONDS)
    const credentials = readPublishName(name)
    const channel = credentials && (await this.#findByKey(credentials.key))
    if (channel === 'unchecked') return undefined
    if (channel !== undefined && (credentials?.login ?? channel.login) === channel.login) return channel
    takePoint(bucket)
    return undefined
  }

  /** The channel that a key opens. `unchecked`: the store does not answer, and the key is not remembered. */
  async #findByKey(key: string): Promise<KeyedChannel | 'unchecked' | undefined> {
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

/** Rules 5 to 7. Undefined: the store does not answer, and the session may or may not be open. */
export async function openUnlessAway(
  attempt: PublishAttempt,
): Promise<OpenedSession | SessionRefusal | undefined> {
  const open = async () => {
    let opened = await attempt.open()
    if (isRefusal(opened) && opened.problem === 'channel_busy' && (await attempt.otherMayHaveEnded?.()))
      opened = await attempt.open()
    if (!isRefusal(opened) && opened.replaced !== null) await attempt.tookOver?.()
    return opened
  }
  const { maxWaitMilliseconds } = attempt
  try {
    return await (maxWaitMilliseconds === undefined
      ? open()
      : withTimeout(maxWaitMilliseconds, open(), () => undefined))
  } catch (error) {
    if (error instanceof Unavailable || error instanceof Conflict) return undefined
    throw error
  }
}

/** What rule 7 does with a second publisher on the same media server; undefined: what the channel wants. */
export function secondPublisherOn(server: {
  readonly isPolled: boolean
  readonly asksLate: boolean
}): SecondPublisher | undefined {
  // Without polling, the earlier publisher may have ended long ago.
  if (!server.isPolled) return 'take_over'
  // Such a media server refuses a second publisher of a name itself.
  return server.asksLate ? 'refuse' : undefined
}
