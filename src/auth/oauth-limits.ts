import { raise } from '../contract/problem.ts'
import type { Metrics } from '../kit/metrics.ts'
import { must } from '../kit/must.ts'
import { networkOf, siteOf } from '../kit/network.ts'
import { perMinute, secondsUntilPoint, TokenBuckets, takePoint } from '../kit/token-buckets.ts'

/** Requests per minute to the OAuth side; 0 switches a limit off. */
export interface OAuthRates {
  /** From one network: every operation but ValidateToken, and every page. */
  readonly address: number
  /** By one client. */
  readonly client: number
  /** ValidateToken, by one client. */
  readonly validation: number
}

/** How long a device is asked to wait between two polls. */
export const POLL_INTERVAL_SECONDS = 5

/**
 * How often a device may ask for its token: one library asks every second, for as long as the code lives. Twice that, and
 * two minutes of it at once, is no mistake of a clock any more.
 */
const POLLS = perMinute(120)

/** A site has many networks, and so many times the points of one. */
const SITE_FACTOR = 10

/** What is counted. */
type Subject = 'address' | 'client' | 'validation' | 'device_code'

/**
 * Rate limits of the OAuth side. Each process counts for itself, in memory, because what they protect (processor time, and
 * the pace of writes) is a process's own; how much is kept is bounded in the store, for all processes together.
 *
 * A client pays for itself only after it has proved who it is. Anybody can name the id of a client, so what was asked
 * without proof is counted apart: a stranger cannot use up what belongs to a client with a secret.
 */
export class OAuthLimits {
  readonly #rates: OAuthRates
  readonly #buckets: TokenBuckets
  readonly #refused = new Map<Subject, number>([
    ['address', 0],
    ['client', 0],
    ['validation', 0],
    ['device_code', 0],
  ])

  constructor(rates: OAuthRates, now?: () => number) {
    this.#rates = rates
    this.#buckets = new TokenBuckets(now)
  }

  /** Any request from this address. */
  takeFromAddress(address: string): void {
    const [network, site] = [networkOf(address), siteOf(address)]
    if (site !== network) this.#take('address', site, this.#rates.address * SITE_FACTOR)
    this.#take('address', network, this.#rates.address)
  }

  takeFromClient(client_id: string, { proved }: { proved: boolean }): void {
    this.#take('client', proved ? client_id : `${client_id} unproved`, this.#rates.client)
  }

  /** A good token is validated at its client's expense, anything else at that of the address. */
  takeForValidation(client_id: string | undefined, address: () => string): void {
    if (client_id === undefined) this.takeFromAddress(address())
    else this.#take('validation', client_id, this.#rates.validation)
  }

  /** A device asks for its token with this code. */
  takeForPoll(deviceCodeHash: string): void {
    if (takePoint(this.#buckets.get(`device_code ${deviceCodeHash}`, POLLS))) return
    this.#countRefusal('device_code')
    raise('slow_down', POLL_INTERVAL_SECONDS)
  }

  measure(metrics: Metrics): void {
    metrics.counter(
      'strand_oauth_rate_limit_refusals_total',
      'Requests to the OAuth side refused by a rate limit, by what was counted.',
      Array.from(this.#refused, ([subject, count]) => [{ subject }, count]),
    )
  }

  #take(subject: Subject, name: string, rate: number): void {
    if (rate === 0) return
    const bucket = this.#buckets.get(`${subject} ${name}`, perMinute(rate))
    if (takePoint(bucket)) return
    this.#countRefusal(subject)
    raise('too_many_requests', secondsUntilPoint(bucket, perMinute(rate)))
  }

  #countRefusal(subject: Subject): void {
    this.#refused.set(subject, must(this.#refused.get(subject), subject) + 1)
  }
}
