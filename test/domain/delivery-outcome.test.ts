import { describe, expect, test } from 'bun:test'
import {
  decideOutcome,
  type MessageKind,
  type SentMessage,
} from '../../src/domain/events/delivery-outcome.ts'

const retrySeconds = [10, 60, 300, 1800, 7200, 21_600]
const rule = { retrySeconds, random: 0 }
const sent = (kind: MessageKind, more: Partial<SentMessage> = {}): SentMessage => ({
  kind,
  attempts: 0,
  status: kind === 'webhook_callback_verification' ? 'webhook_callback_verification_pending' : 'enabled',
  ...more,
})
const status = (code: number, body = '') => ({ status: code, body })
const late = { failure: 'no answer within 10 s' }

describe('a notification', () => {
  test('is taken by any 2xx', () => {
    for (const code of [200, 201, 202, 204, 299])
      expect(decideOutcome(sent('notification'), status(code), rule)).toEqual({ outcome: 'delivered' })
    for (const code of [100, 199, 300, 301, 302, 307, 308, 400, 401, 404, 429, 500, 503, 0])
      expect(decideOutcome(sent('notification'), status(code), rule)).toEqual({
        outcome: 'retry',
        retryMilliseconds: 10_000,
        answer: `status ${code}`,
      })
  })

  test('is retried after 10 s, 1 m, 5 m, 30 m, 2 h and 6 h, and then ends its subscription with a revocation', () => {
    const waits = retrySeconds.map((_, attempts) =>
      decideOutcome(sent('notification', { attempts }), late, rule),
    )
    expect(waits.map(each => each.retryMilliseconds)).toEqual(retrySeconds.map(seconds => seconds * 1000))
    expect(decideOutcome(sent('notification', { attempts: 6 }), late, rule)).toEqual({
      outcome: 'failed',
      answer: late.failure,
      subscription: { status: 'notification_failures_exceeded', revokes: true },
    })
  })

  test('is retried late by at most a fifth, and never early', () => {
    const { retryMilliseconds: last = 0 } = decideOutcome(sent('notification'), late, {
      retrySeconds,
      random: 0.999,
    })
    expect(last).toBeGreaterThan(11_900)
    expect(last).toBeLessThan(12_000)
  })

  test('that is answered with 410 ends its subscription at once, without a revocation', () => {
    expect(decideOutcome(sent('notification'), status(410), rule)).toEqual({
      outcome: 'failed',
      answer: 'status 410',
      subscription: { status: 'notification_failures_exceeded', revokes: false },
    })
  })
})

describe('a verification', () => {
  const asked = (attempts: number) => sent('webhook_callback_verification', { attempts, challenge: 'abc' })

  test('needs a 2xx whose body is the challenge', () => {
    expect(decideOutcome(asked(0), status(200, 'abc'), rule)).toEqual({
      outcome: 'delivered',
      subscription: { status: 'enabled', revokes: false },
    })
    for (const answer of [status(200), status(200, 'abc '), status(200, '"abc"'), status(500, 'abc'), late])
      expect(decideOutcome(asked(0), answer, rule)).toMatchObject({
        outcome: 'retry',
        retryMilliseconds: 10_000,
      })
  })

  test('fails after the second attempt', () => {
    for (const answer of [late, status(410), status(200, 'x')])
      expect(decideOutcome(asked(1), answer, rule)).toMatchObject({
        outcome: 'failed',
        subscription: { status: 'webhook_callback_verification_failed', revokes: false },
      })
  })
})

describe('a revocation', () => {
  test('is retried like a notification, and changes nothing when it fails', () => {
    const revoked = { status: 'authorization_revoked' } as const
    expect(decideOutcome(sent('revocation', revoked), late, rule).outcome).toBe('retry')
    for (const failure of [
      decideOutcome(sent('revocation', { ...revoked, attempts: 6 }), late, rule),
      decideOutcome(sent('revocation', revoked), status(410), rule),
    ]) {
      expect(failure.outcome).toBe('failed')
      expect(failure.subscription).toBeUndefined()
    }
  })

  test('of a receiver that failed through all retries is sent once', () => {
    const exceeded = { status: 'notification_failures_exceeded' } as const
    expect(decideOutcome(sent('revocation', exceeded), late, rule)).toEqual({
      outcome: 'failed',
      answer: late.failure,
    })
  })
})
