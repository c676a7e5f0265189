import type { EventSecrets } from '../auth/event-secrets.ts'
import type { CallbackRule } from '../domain/events/event-subscription.ts'
import type { Lifetime } from '../kit/lifetime.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { MAX_INPUT_FILE, readSmallFile } from '../kit/small-file.ts'
import type { Log } from '../kit/telemetry/log.ts'
import type { Clock } from '../kit/time/clock.ts'
import type { Store } from '../store/store.ts'
import { ATTEMPT_MILLISECONDS, WebhookDispatcher } from './dispatcher.ts'
import type { MessageFaults } from './message-faults.ts'
import { SEND_RULES, WebhookSender } from './webhook-sender.ts'

interface WebhookServices {
  readonly store: Store
  readonly eventSecrets: EventSecrets
  readonly eventCallbacks: CallbackRule
  readonly clock: Clock
  readonly log: Log
  readonly demo?: { readonly faults: MessageFaults } | undefined
}

interface WebhookSettings {
  readonly eventRetries: readonly number[]
  readonly eventAuthority?: string | undefined
}

/** Starts sending to webhooks; the lifetime ends it. */
export function openWebhooks(
  { store, eventSecrets, eventCallbacks, clock, log, demo }: WebhookServices,
  { eventRetries, eventAuthority }: WebhookSettings,
  lifetime: Lifetime,
): WebhookDispatcher {
  const dispatcher = new WebhookDispatcher({
    store,
    secrets: eventSecrets,
    clock,
    log,
    faults: demo?.faults,
    retrySeconds: eventRetries,
    sender: new WebhookSender({
      rule: SEND_RULES[eventCallbacks],
      milliseconds: ATTEMPT_MILLISECONDS,
      authority: eventAuthority === undefined ? undefined : readAuthority(eventAuthority),
    }),
  })
  dispatcher.start()
  lifetime.onClose(() => dispatcher.stop())
  return dispatcher
}

function readAuthority(file: string): string {
  try {
    const text = readSmallFile(file, MAX_INPUT_FILE)
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  } catch {
    // Explained below.
  }
  throw new OperatorError(`cannot read the certificates in ${file}: give a PEM file in STRAND_EVENT_CA`)
}
