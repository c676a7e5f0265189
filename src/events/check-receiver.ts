import { randomBytes } from 'node:crypto'
import type { EventType } from '../contract/events/event-type.ts'
import type { MessageKind, ReceiverAnswer } from '../domain/events/delivery-outcome.ts'
import { uuid } from '../kit/id.ts'
import type { ClaimedDelivery } from '../store/commands/claim-deliveries.ts'
import { sampleMessage } from './sample.ts'
import { webhookBody, webhookHeaders } from './webhook-message.ts'
import { SEND_RULES, WebhookSender } from './webhook-sender.ts'

/** How a receiver of webhooks behaves: what was checked, and what is wrong if something is. */
export interface ReceiverFinding {
  readonly check: string
  readonly problem?: string
}

export interface CheckedReceiver {
  readonly url: string
  readonly secret: string
  readonly type: EventType
}

const TIMEOUT_MILLISECONDS = 10_000
const ELEVEN_MINUTES = 11 * 60_000
const SIGNATURE = 'Twitch-Eventsub-Message-Signature'

interface Sent {
  readonly kind?: MessageKind
  readonly id?: string
  readonly age?: number
  /** Replaces headers. */
  readonly headers?: Readonly<Record<string, string>>
  readonly challenge?: string
}

/** Sends sample messages, good and bad ones, and looks at the answers. */
export async function checkReceiver(receiver: CheckedReceiver): Promise<ReceiverFinding[]> {
  const findings: ReceiverFinding[] = []
  const find = (check: string, problem: string | undefined) =>
    findings.push(problem === undefined ? { check } : { check, problem })
  const send = (sent: Sent) => sendSample(receiver, sent)

  const challenge = randomBytes(20).toString('base64url')
  const verified = await send({ kind: 'webhook_callback_verification', challenge })
  find(
    'answers a verification with its challenge',
    expectRefusal(verified) ??
      (verified.status !== undefined && verified.body === challenge ? undefined : WRONG_BODY),
  )
  // Without an answer at all, the other checks would only repeat that.
  if (verified.status === undefined) return findings

  const id = uuid()
  find('takes a notification', expectRefusal(await send({ id })))
  find('takes the same notification again', expectRefusal(await send({ id })))
  find(
    'refuses a false signature',
    expectAcceptance(await send({ headers: { [SIGNATURE]: `sha256=${'0'.repeat(64)}` } })),
  )
  find(
    'refuses a message without a signature',
    expectAcceptance(await send({ headers: { [SIGNATURE]: '' } })),
  )
  find(
    'refuses an id that was not signed',
    expectAcceptance(await send({ headers: { 'Twitch-Eventsub-Message-Id': uuid() } })),
  )
  find(
    'refuses a message that is older than 10 minutes',
    expectAcceptance(await send({ age: ELEVEN_MINUTES })),
  )
  find('takes a revocation', expectRefusal(await send({ kind: 'revocation' })))
  return findings
}

const WRONG_BODY = 'the body of the answer is not the challenge, and nothing else'

const isSuccess = (answer: ReceiverAnswer): boolean =>
  answer.status !== undefined && answer.status >= 200 && answer.status < 300

function expectRefusal(answer: ReceiverAnswer): string | undefined {
  if (isSuccess(answer)) return undefined
  return answer.status === undefined ? answer.failure : `the answer was ${answer.status} instead of 2xx`
}

function expectAcceptance(answer: ReceiverAnswer): string | undefined {
  if (answer.status === undefined) return answer.failure
  return isSuccess(answer) ? `the answer was ${answer.status}; it should be 403` : undefined
}

/** Sends one signed sample. */
export async function sendSample(
  { url, secret, type }: CheckedReceiver,
  { kind, id, age = 0, headers = {}, challenge = '' }: Sent,
  subject?: string,
): Promise<ReceiverAnswer> {
  const sample = sampleMessage(type, url, { ...(kind && { kind }), subject })
  const message: ClaimedDelivery = { ...sample, message: id ?? sample.message }
  const body = webhookBody([message], challenge)
  const signed = webhookHeaders(message, { body, secret, now: Date.now() - age })
  const sender = new WebhookSender({ rule: SEND_RULES.any, milliseconds: TIMEOUT_MILLISECONDS })
  const request = { callback: url, headers: { ...signed, ...headers }, body, readsAnswer: true }
  return sender.send(request).finally(() => sender.close())
}
