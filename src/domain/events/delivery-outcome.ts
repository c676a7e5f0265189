import type { SubscriptionStatus } from '../../contract/resources/event-subscription.ts'

export type MessageKind = 'notification' | 'webhook_callback_verification' | 'revocation'

/** A message that was sent, as far as its outcome depends on it. */
export interface SentMessage {
  readonly kind: MessageKind
  /** Attempts before this one. */
  readonly attempts: number
  /** The status of the subscription when the message was sent. */
  readonly status: SubscriptionStatus
  /** The text that the receiver of a verification has to return. */
  readonly challenge?: string | undefined
}

/** What a receiver answered, or why there is no answer. */
export type ReceiverAnswer =
  | { readonly status: number; readonly body: string }
  | { readonly status?: undefined; readonly failure: string }

export interface RetryRule {
  /** The waiting time before each retry, in seconds. */
  readonly retrySeconds: readonly number[]
  /** A number in [0, 1): spreads retries, so that a receiver that comes back is not met by all of them at once. */
  readonly random: number
}

/** What becomes of the message, and of its subscription if that changes. */
export interface MessageOutcome {
  readonly outcome: 'delivered' | 'retry' | 'failed'
  readonly retryMilliseconds?: number
  /** Why it was not delivered, for the operator. */
  readonly answer?: string
  readonly subscription?: { readonly status: SubscriptionStatus; readonly revokes: boolean }
}

const GONE = 410
/** A retry is never early, and late by at most this share of its waiting time. */
const JITTER = 0.2

export function decideOutcome(sent: SentMessage, answer: ReceiverAnswer, rule: RetryRule): MessageOutcome {
  const why = rejection(sent, answer)
  if (why === undefined)
    return sent.kind === 'webhook_callback_verification'
      ? { outcome: 'delivered', subscription: { status: 'enabled', revokes: false } }
      : { outcome: 'delivered' }
  const isGone = answer.status === GONE && sent.kind !== 'webhook_callback_verification'
  const seconds = isGone ? undefined : retryDelay(sent, rule)
  if (seconds !== undefined)
    return { outcome: 'retry', retryMilliseconds: seconds * 1000 * (1 + JITTER * rule.random), answer: why }
  const failed = { outcome: 'failed', answer: why } as const
  if (sent.kind === 'revocation') return failed
  const status =
    sent.kind === 'notification' ? 'notification_failures_exceeded' : 'webhook_callback_verification_failed'
  // A receiver that answers 410 knows that it gets nothing more.
  const revokes = sent.kind === 'notification' && !isGone
  return { ...failed, subscription: { status, revokes } }
}

/** Why an answer does not count; undefined if the receiver has taken the message. */
function rejection({ challenge }: SentMessage, answer: ReceiverAnswer): string | undefined {
  if (answer.status === undefined) return answer.failure
  if (answer.status < 200 || answer.status > 299) return `status ${answer.status}`
  return challenge === undefined || answer.body === challenge
    ? undefined
    : 'the body of the answer is not the challenge'
}

/** The waiting time before the next attempt; undefined if there is none. */
function retryDelay(
  { kind, attempts, status }: SentMessage,
  { retrySeconds }: RetryRule,
): number | undefined {
  if (kind === 'webhook_callback_verification') return attempts === 0 ? retrySeconds[0] : undefined
  // This receiver has just failed to take another message through all retries.
  if (kind === 'revocation' && status === 'notification_failures_exceeded') return undefined
  return retrySeconds[attempts]
}
