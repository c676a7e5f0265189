/**
 * Sends messages to webhooks.
 *
 * The problem: receivers are other people's servers. They are slow, they fail, they hang; a process may die between sending
 * a message and noting that it was taken. Messages must arrive anyway, and one bad receiver must not delay the others.
 *
 * So messages wait in the store, where the transaction of the change that they report has put them. Every process has a
 * dispatcher. In a turn it settles the requests that have ended and claims messages that are due, as many as it has free
 * slots, in one transaction; then it starts to send.
 *
 *     pending --claim--> claimed --accepted--> delivered
 *        ^                  |
 *        |                  +-- failure, retries left --> pending, due later
 *        |                  '-- failure, no retry left --> failed; a notification or verification ends its subscription
 *        '-- the claim ends after 30 s: the process died, or could not settle
 *
 * Turns follow each other while there is something to do. Otherwise the next one starts after 250 ms, or at once if a
 * command of this process adds a message or a request ends.
 *
 * What must hold:
 * - Each message is sent at least once, unless its subscription ends. It is sent twice only after a crash, after an outage
 *   of the store that outlasts the claim, or if a receiver closes a kept connection without an answer. Receivers recognize
 *   a repeated message by its id.
 * - A request ends well before its claim does, and an outcome that the store did not take is settled again until then.
 * - No receiver delays another. Each has a few slots, and a claim takes no more for it than are free (`slots.ts`,
 *   `domain/events/webhook-room.ts`). A receiver that fails is tried less and less often.
 * - Memory is bounded by the slots: what is not claimed waits in the store, in queues whose length costs nothing
 *   (`store/commands/claim-webhooks.ts`).
 * - A process that stops claims nothing more, and settles what it has sent.
 */
import type { EventSecrets } from '../auth/event-secrets.ts'
import { decideOutcome, type MessageOutcome, type ReceiverAnswer } from '../domain/events/delivery-outcome.ts'
import { WEBHOOK_TARGET } from '../domain/events/event-subscription.ts'
import { HOST_SLOTS, messageQueues } from '../domain/events/webhook-room.ts'
import { randomAlphanumerics } from '../kit/id.ts'
import { Histogram, SECONDS } from '../kit/telemetry/histogram.ts'
import type { Log } from '../kit/telemetry/log.ts'
import { loggingOutages } from '../kit/telemetry/log-outages.ts'
import type { Measured, Metrics } from '../kit/telemetry/metrics.ts'
import { Outage } from '../kit/telemetry/outage.ts'
import type { Clock } from '../kit/time/clock.ts'
import type { ClaimedDelivery } from '../store/commands/claim-deliveries.ts'
import type { DeliveryOutcome } from '../store/commands/event-deliveries.ts'
import type { Backlog } from '../store/queries/event-deliveries.ts'
import type { Store } from '../store/store.ts'
import { AddressShares } from './address-shares.ts'
import { CLAIM_MILLISECONDS, claimSafely } from './claim.ts'
import { LateOutcomes } from './late-outcomes.ts'
import type { MessageFaults } from './message-faults.ts'
import { Slots } from './slots.ts'
import { webhookBody, webhookHeaders } from './webhook-message.ts'
import { ADDRESS_BUSY, type WebhookSender } from './webhook-sender.ts'

/** Messages of other processes, and retries, are found after this time. */
const POLL_MILLISECONDS = 250
/** Messages that have to wait are put into queues; if they are many, that takes at most half of the time. */
const MAX_PAUSE_MILLISECONDS = 1000
/** How long ended requests and new messages wait for other requests to end, so that one commit settles and claims more. */
const GATHER_MILLISECONDS = 4
export const ATTEMPT_MILLISECONDS = 10_000
/** Outcomes are settled again until this long after the claim, if the store does not take them. */
const SETTLE_MILLISECONDS = CLAIM_MILLISECONDS - 5000
/** A verification is tried again after this time if its address has too many verifications in flight. */
const BUSY_MILLISECONDS = 1000
/** How often the backlog is counted for metrics. */
const BACKLOG_MILLISECONDS = 10_000
const LIMITS = { notifications: 256, verifications: 64 } as const

export interface DispatcherOptions {
  readonly store: Store
  readonly secrets: EventSecrets
  /** The clock of tokens, which decide about fields of events. */
  readonly clock: Clock
  readonly sender: WebhookSender
  /** Faults that a demo has planned. */
  readonly faults?: MessageFaults | undefined
  readonly retrySeconds: readonly number[]
  readonly log: Log
}

const WEBHOOK_FAULTS = ['webhook_twice', 'webhook_bad_signature'] as const

type Message = readonly [ClaimedDelivery, ...ClaimedDelivery[]]

/** A request that has ended. Its outcome is not in the store yet. */
interface Finished {
  readonly first: ClaimedDelivery
  readonly beganAt: number
  readonly outcome: DeliveryOutcome
}

export class WebhookDispatcher implements Measured {
  readonly #options: DispatcherOptions
  readonly #slots = new Slots(LIMITS)
  /** Verifications in flight by address, because one address can have many host names. */
  readonly #verified = new AddressShares(HOST_SLOTS)
  readonly #inFlight = new Set<Promise<void>>()
  readonly #failures = new Outage()
  readonly #attempts = { delivered: 0, retry: 0, failed: 0 }
  readonly #durations = new Histogram(SECONDS)
  #backlog: Backlog = { pending: 0, lagMilliseconds: 0 }
  #backlogAt = Number.NEGATIVE_INFINITY
  #finished: Finished[] = []
  readonly #late: LateOutcomes
  #isStopping = false
  #wake: () => void = () => undefined
  /** Called when no request is in flight any more. */
  #onAllEnded: () => void = () => undefined
  #loop: Promise<void> = Promise.resolve()

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#late = new LateOutcomes(options)
  }

  start(): void {
    this.#options.store.onAnnouncement(() => this.#wake())
    this.#loop = this.#run()
  }

  /** Claims nothing more; requests in flight get their time and are settled. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#wake()
    await this.#loop
    await Promise.all(this.#inFlight)
    this.#settleApart(this.#finished.splice(0))
    await this.#late.settled()
    this.#options.sender.close()
  }

  async #run(): Promise<void> {
    const turn = loggingOutages(
      async () => {
        while (!this.#isStopping && this.#hasWork && (await this.#takeTurn()));
        await this.#countBacklog()
      },
      this.#options.log,
      'claiming webhook messages failed',
    )
    while (!this.#isStopping) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await turn()
      this.#logRecovery()
      const timer = setTimeout(resolve, POLL_MILLISECONDS)
      await promise
      clearTimeout(timer)
    }
  }

  /** Whether a turn is worthwhile. Ended requests are settled even if all slots are taken. */
  get #hasWork(): boolean {
    return this.#finished.length > 0 || !this.#slots.isFull
  }

  /**
   * Settles what has ended and claims what can be sent, in one transaction, and starts sending. Returns whether there may be
   * more to do now.
   */
  async #takeTurn(): Promise<boolean> {
    const { store, clock } = this.#options
    if (this.#finished.length < this.#slots.inFlight) await this.#gather()
    if (this.#finished.length === 0 && !(await store.eventDeliveries.isWebhookDue())) return false
    const beganAt = performance.now()
    const { claimed, more } = await this.#settling(outcomes =>
      claimSafely(this.#options, times => {
        const room = this.#slots.room(beganAt)
        return store.commands.claimWebhooks({ ...times, outcomes, room, now: clock.now() })
      }),
    )
    for (const deliveries of Map.groupBy(claimed, row => row.message).values()) {
      const sent = this.#deliver(deliveries as unknown as Message).finally(() => this.#inFlight.delete(sent))
      this.#inFlight.add(sent)
    }
    if (more && claimed.length === 0)
      await Bun.sleep(Math.min(performance.now() - beganAt, MAX_PAUSE_MILLISECONDS))
    return more || this.#finished.length > 0
  }

  /** Waits for requests to end: for all of them, but not longer than `GATHER_MILLISECONDS`. */
  async #gather(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onAllEnded = resolve
    const timer = setTimeout(resolve, GATHER_MILLISECONDS)
    await promise
    clearTimeout(timer)
  }

  /** Gives what has ended to a transaction. If it fails, what has ended is settled apart. */
  async #settling<T>(settle: (outcomes: readonly DeliveryOutcome[]) => Promise<T>): Promise<T> {
    const finished = this.#finished
    this.#finished = []
    try {
      const answer = await settle(finished.map(({ outcome }) => outcome))
      for (const { first, outcome } of finished) this.#logChange(first, outcome)
      return answer
    } catch (error) {
      this.#settleApart(finished)
      throw error
    }
  }

  #settleApart(finished: readonly Finished[]): void {
    const late = finished.map(({ first, outcome, beganAt }) => ({
      outcome,
      until: beganAt + SETTLE_MILLISECONDS,
      onSettled: () => this.#logChange(first, outcome),
    }))
    this.#late.add(late)
  }

  async #countBacklog(): Promise<void> {
    const now = performance.now()
    if (now - this.#backlogAt < BACKLOG_MILLISECONDS) return
    this.#backlogAt = now
    this.#backlog = await this.#options.store.eventDeliveries.backlog()
  }

  async #deliver(message: Message): Promise<void> {
    const [first] = message
    const beganAt = performance.now()
    const queues = messageQueues(first)
    const free = this.#slots.take(queues, first.attempts > 0, beganAt)
    const challenge = first.kind === 'webhook_callback_verification' ? randomAlphanumerics(32) : undefined
    const answer = await this.#send(message, challenge)
    const endedAt = performance.now()
    free({ isAnswered: answer.status !== undefined, now: endedAt })
    const milliseconds = Math.round(endedAt - beganAt)
    const { retrySeconds } = this.#options
    if (answer.status === undefined && answer.failure === ADDRESS_BUSY) {
      const retry = { outcome: 'retry', retryMilliseconds: BUSY_MILLISECONDS, isUnsent: true } as const
      return this.#finish(first, beganAt, { ids: [first.id], ...retry, answer: ADDRESS_BUSY, milliseconds })
    }
    const outcome = decideOutcome({ ...first, challenge }, answer, { retrySeconds, random: Math.random() })
    this.#note(first, outcome, milliseconds)
    this.#finish(first, beganAt, {
      ids: message.map(each => each.id),
      ...outcome,
      answer_status: answer.status,
      milliseconds,
      ...(outcome.outcome === 'delivered'
        ? { queues }
        : {
            failed: {
              queues,
              isOrdered: first.lane !== null,
              maxPauseMilliseconds: (retrySeconds[0] ?? 0) * 1000,
            },
          }),
      ...(outcome.subscription && {
        subscription: { ...outcome.subscription, id: first.subscription_id },
      }),
    } as DeliveryOutcome)
  }

  #finish(first: ClaimedDelivery, beganAt: number, outcome: DeliveryOutcome): void {
    this.#finished.push({ first, beganAt, outcome })
    this.#wake()
    if (this.#slots.inFlight === 0) this.#onAllEnded()
  }

  async #send(message: Message, challenge = ''): Promise<ReceiverAnswer> {
    const [first] = message
    const { secrets, sender, faults } = this.#options
    const { subscription_id, key_id, sealed, callback, kind, type } = first
    const secret =
      key_id === null || sealed === null ? undefined : secrets.open(subscription_id, { key_id, sealed })
    if (secret === undefined || callback === null)
      return { failure: 'the secret cannot be opened with the master keys of this installation' }
    const body = webhookBody(message, challenge)
    const fault =
      kind === 'notification' ? faults?.takeMessage(WEBHOOK_FAULTS, { type, subscription_id }) : undefined
    const signedWith = fault === 'webhook_bad_signature' ? `not ${secret}` : secret
    const headers = webhookHeaders(first, { body, secret: signedWith, now: Date.now() })
    const shares = challenge === '' ? undefined : this.#verified
    const request = { callback, headers, body, readsAnswer: challenge !== '', shares }
    const answer = await sender.send(request)
    if (fault === 'webhook_twice') await sender.send(request)
    return answer
  }

  #note(first: ClaimedDelivery, { outcome, answer }: MessageOutcome, milliseconds: number): void {
    this.#attempts[outcome] += 1
    this.#durations.note(milliseconds / 1000)
    if (outcome === 'delivered') return
    const report = this.#failures.fail(performance.now())
    if (report === undefined) return
    const { failures, seconds } = report
    this.#options.log.warn(
      { host: receiverHost(first), reason: answer, failures, seconds },
      'webhooks failed',
    )
  }

  #logRecovery(): void {
    if (!this.#failures.isQuiet(performance.now())) return
    const ended = this.#failures.end(performance.now())
    if (ended === undefined) return
    const { failures, seconds } = ended
    this.#options.log.info({ failures, seconds }, 'webhooks failed; no failures since')
  }

  #logChange(first: ClaimedDelivery, { subscription }: DeliveryOutcome): void {
    if (subscription === undefined) return
    const { id, status } = subscription
    const facts = {
      subscription: id,
      client: first.client_id,
      type: first.type,
      host: receiverHost(first),
      status,
    }
    if (status === 'enabled') this.#options.log.info(facts, 'event subscription enabled')
    else this.#options.log.warn(facts, 'event subscription ended')
  }

  measure(metrics: Metrics): void {
    metrics.gauge(
      'strand_webhooks_pending',
      'Messages to webhooks that are not delivered yet, including those that wait for a retry; at most 10,000 are counted.',
      this.#backlog.pending,
    )
    metrics.gauge(
      'strand_webhook_lag_seconds',
      'How long the oldest message to a webhook has been due.',
      this.#backlog.lagMilliseconds / 1000,
    )
    metrics.gauge('strand_webhooks_in_flight', 'Requests to webhooks in progress.', this.#slots.inFlight)
    metrics.counter(
      'strand_webhook_attempts_total',
      'Requests to webhooks by outcome.',
      Object.entries(this.#attempts).map(([outcome, count]) => [{ outcome }, count]),
    )
    metrics.histogram('strand_webhook_attempt_seconds', 'Duration of requests to webhooks.', this.#durations)
  }
}

/** The host without the path of a callback, which may contain a secret. */
const receiverHost = ({ target }: ClaimedDelivery): string => target.slice(WEBHOOK_TARGET.length)
