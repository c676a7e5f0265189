import { raise } from '../contract/problem.ts'
import { toNetwork, toSite } from '../kit/network.ts'
import { perMinute, secondsUntilPoint, TokenBuckets, takePoint } from '../kit/queues/token-buckets.ts'
import type { Metrics } from '../kit/telemetry/metrics.ts'

/** Requests per minute to OAuth endpoints and pages; 0 disables a limit. */
export interface OAuthRates {
  /** Per network: every operation except ValidateToken, and every page. */
  readonly address: number
  /** Per client. */
  readonly client: number
  /** ValidateToken, per client. */
  readonly validation: number
}

/** The polling interval that devices are asked to keep. */
export const POLL_INTERVAL_SECONDS = 5

/**
 * How often a device may poll for its token. One library polls every second for the lifetime of the code; twice that rate,
 * with a burst of two minutes' worth of polls, cannot be explained by clock inaccuracy.
 */
const POLLS = perMinute(120)

/** A site has many networks; its limit is this many times that of a network. */
const SITE_FACTOR = 10

/** Playback sessions and heartbeats of a network per minute: far more than count as viewers, because others share it too. */
const PLAYBACK_RATE = 600

/**
 * Rate limits of OAuth. Each process counts in memory, because the protected resources (CPU time and the write rate) are
 * per process; the amount of stored data is bounded in the store, for all processes together.
 *
 * A request counts against the limit of a client only after authentication. Client ids are public, so unauthenticated
 * requests are counted separately: they cannot use up the limit of a client with a secret.
 */
export class OAuthLimits {
  readonly #rates: OAuthRates
  readonly #buckets: TokenBuckets
  readonly #refused = { address: 0, client: 0, validation: 0, device_code: 0, playback: 0 }

  constructor(rates: OAuthRates, now?: () => number) {
    this.#rates = rates
    this.#buckets = new TokenBuckets(now)
  }

  /** Counts a request from this address. */
  takeFromAddress(address: string): void {
    this.#takeFromNetwork('address', address, this.#rates.address)
  }

  /** Counts a playback session or heartbeat from this address, apart from its log-ins and tokens. */
  takeForPlayback(address: string): void {
    this.#takeFromNetwork('playback', address, PLAYBACK_RATE)
  }

  takeFromClient(client_id: string, { proved }: { proved: boolean }): void {
    this.#take('client', proved ? client_id : `${client_id} unproved`, this.#rates.client)
  }

  /** Validating a valid token counts against its client, anything else against the address. */
  takeForValidation(client_id: string | undefined, address: () => string): void {
    if (client_id === undefined) this.takeFromAddress(address())
    else this.#take('validation', client_id, this.#rates.validation)
  }

  /** Counts a poll with this device code. */
  takeForPoll(deviceCodeHash: string): void {
    if (takePoint(this.#buckets.get(`device_code ${deviceCodeHash}`, POLLS))) return
    this.#refused.device_code += 1
    raise('slow_down', POLL_INTERVAL_SECONDS)
  }

  measure(metrics: Metrics): void {
    metrics.counter(
      'strand_oauth_rate_limit_refusals_total',
      'OAuth and playback requests rejected by a rate limit, by subject.',
      Object.entries(this.#refused).map(([subject, count]) => [{ subject }, count]),
    )
  }

  #takeFromNetwork(subject: 'address' | 'playback', address: string, rate: number): void {
    const [network, site] = [toNetwork(address), toSite(address)]
    if (site !== network) this.#take(subject, site, rate * SITE_FACTOR)
    this.#take(subject, network, rate)
  }

  #take(subject: 'address' | 'client' | 'validation' | 'playback', name: string, rate: number): void {
    if (rate === 0) return
    const bucket = this.#buckets.get(`${subject} ${name}`, perMinute(rate))
    if (takePoint(bucket)) return
    this.#refused[subject] += 1
    raise('too_many_requests', secondsUntilPoint(bucket, perMinute(rate)))
  }
}
