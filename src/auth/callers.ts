import type { Caller } from '../domain/caller.ts'
import type { Clock } from '../kit/clock.ts'
import { sameSecret } from '../kit/digest.ts'
import { chain, type MaybePromise } from '../kit/maybe-promise.ts'
import type { Metrics } from '../kit/metrics.ts'
import { Recent } from '../kit/recent.ts'
import type { EndedAccess, FeedEntry } from '../store/feed.ts'
import type { FeedSubscriber } from '../store/follower.ts'
import type { KnownToken } from '../store/queries/tokens.ts'
import type { Store } from '../store/store.ts'
import { hashOf, isWellFormed } from './tokens.ts'

/** A good access token: whose it is, what it opens and until when. */
export interface AccessToken {
  readonly client_id: string
  readonly user_id: string | null
  readonly login: string | null
  readonly scopes: readonly string[]
  /** Milliseconds since 1970. */
  readonly ends: number
  readonly caller: Caller
  /** When the store was asked, on the monotonic clock. */
  readonly askedAt: number
}

const MANY = 100_000
const TRUSTED_MILLISECONDS = 60_000

/**
 * Who is behind a token, from memory. An entry is right until the feed says otherwise: whatever ends or changes tokens
 * publishes that in its own transaction, so a revoked token is refused here as soon as the revocation was answered, and in
 * other processes with their next reading of the feed. Tokens that are not known are asked for each time.
 */
export class Callers implements FeedSubscriber {
  readonly #store: Store
  readonly #known = new Recent<AccessToken>(MANY)
  /** Counts what was forgotten: a look-up during which something was is not remembered. */
  #forgettings = 0

  constructor(store: Store) {
    this.#store = store
  }

  /** The token, unless it is unknown, has ended or was never one of ours. */
  find(token: string, now: number): MaybePromise<AccessToken | undefined> {
    const hash = hashOf(token)
    const known = this.#known.get(hash)
    if (known === undefined && !isWellFormed(token)) return undefined
    const isFresh = known !== undefined && performance.now() - known.askedAt < TRUSTED_MILLISECONDS
    return chain(isFresh ? known : this.#askAgain(hash, known), found =>
      found !== undefined && found.ends > now ? found : undefined,
    )
  }

  /** Should the feed ever fail to tell, the store is asked from time to time; while it is away, what is known counts. */
  async #askAgain(hash: string, known: AccessToken | undefined): Promise<AccessToken | undefined> {
    try {
      const found = await this.#lookUp(hash)
      if (found === undefined) this.#known.delete(hash)
      return found
    } catch (error) {
      if (known === undefined) throw error
      return known
    }
  }

  measure(metrics: Metrics): void {
    metrics.gauge(
      'strand_known_callers',
      'Access tokens whose holder is known from memory.',
      this.#known.size,
    )
  }

  async load(): Promise<() => void> {
    return () => {
      this.#known.clear()
      this.#forgettings += 1
    }
  }

  apply({ change }: FeedEntry): void {
    if (change.kind !== 'access') return
    this.#forgettings += 1
    const { access } = change
    if ('tokens' in access) for (const hash of access.tokens) this.#known.delete(hash)
    else for (const [hash, token] of this.#known) if (concerns(access, token)) this.#known.delete(hash)
  }

  async #lookUp(hash: string): Promise<AccessToken | undefined> {
    const before = this.#forgettings
    const row = await this.#store.tokens.find(hash)
    if (row === undefined || row.kind === 'refresh') return undefined
    const token = readToken(row)
    if (before === this.#forgettings) this.#known.set(hash, token)
    return token
  }
}

function concerns(access: Exclude<EndedAccess, { tokens: unknown }>, token: AccessToken): boolean {
  return 'client_id' in access ? access.client_id === token.client_id : access.user_id === token.user_id
}

function readToken(row: KnownToken): AccessToken {
  const { client_id, user_id, login } = row
  const scopes: readonly string[] = JSON.parse(row.scopes)
  return {
    client_id,
    user_id,
    login,
    scopes,
    ends: Date.parse(row.expires_at),
    caller: callerOf(row, scopes),
    askedAt: performance.now(),
  }
}

function callerOf(
  { kind, client_id, organization_id, user_id, login }: KnownToken,
  scopes: readonly string[],
): Caller {
  if (kind === 'app') return { kind, client_id, organization_id }
  if (user_id === null || login === null) throw new Error('a user token has a user')
  return { kind: 'user', client_id, organization_id, user_id, login, scopes }
}

/** The forms of an `Authorization` header with a token; the scheme in any case (D-2). */
const BEARER = /^bearer +(\S+)$/i
export const OAUTH_OR_BEARER = /^(?:oauth|bearer) +(\S+)$/i

/** The token of an `Authorization` header: undefined if there is none, `invalid` if it cannot be one. */
export function tokenIn(header: string | null, form: RegExp): string | 'invalid' | undefined {
  if (header === null || header === '') return undefined
  return form.exec(header)?.[1] ?? 'invalid'
}

/** Who a request's credentials stand for; `invalid` if they stand for nobody. */
export type Resolution = Caller | 'invalid'

export const ANONYMOUS: Caller = { kind: 'anonymous' }

/** The caller behind `Authorization: Bearer <token>` (D-2). */
export function resolveCaller(
  callers: Callers,
  header: string | null,
  clock: Clock,
): MaybePromise<Resolution> {
  const token = tokenIn(header, BEARER)
  if (token === undefined) return ANONYMOUS
  if (token === 'invalid') return 'invalid'
  return chain(callers.find(token, clock.now()), found => found?.caller ?? 'invalid')
}

/**
 * The operator behind the header: the holder of the first token, or one with a name. Names are looked up each time, for calls
 * of operators are few: a token that was taken away is refused by every process at once.
 */
export function resolveOperator(
  operatorToken: string,
  store: Pick<Store, 'operators'>,
  header: string | null,
): MaybePromise<Resolution> {
  const token = tokenIn(header, BEARER)
  if (token === undefined) return ANONYMOUS
  if (sameSecret(token, operatorToken)) return { kind: 'operator', name: null }
  if (!isWellFormed(token)) return 'invalid'
  return chain(store.operators.withToken(hashOf(token)), name =>
    name === undefined ? 'invalid' : { kind: 'operator', name },
  )
}
