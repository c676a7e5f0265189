import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { createEventReceiver, type ReceivedEvent, verifySignature } from '../../src/client/index.ts'

const SECRET = 'a secret of 21 chars.'
const NOW = Date.parse('2026-03-01T12:00:00Z')
const subscription = {
  id: 'f1c2a387-161a-49f9-a165-0f21d7a4e1c4',
  status: 'enabled',
  type: 'stream.offline',
  version: '1',
  condition: { broadcaster_user_id: '1' },
  created_at: '2026-03-01T12:00:00.250Z',
  transport: { method: 'webhook', callback: 'https://example.com/' },
  cost: 1,
}
const event = { broadcaster_user_id: '1', broadcaster_user_login: 'otter', broadcaster_user_name: 'Otter' }

/** Signed as the specification has it, by other code than the product's. */
function signed(
  body: string,
  { id = 'message-1', at = NOW, secret = SECRET, type = 'notification' } = {},
): { headers: Record<string, string>; body: string } {
  const timestamp = new Date(at).toISOString()
  const mac = createHmac('sha256', secret).update(id).update(timestamp).update(body).digest('hex')
  return {
    headers: {
      'twitch-eventsub-message-id': id,
      'twitch-eventsub-message-timestamp': timestamp,
      'twitch-eventsub-message-signature': `sha256=${mac}`,
      'twitch-eventsub-message-type': type,
    },
    body,
  }
}

const posted = ({ headers, body }: ReturnType<typeof signed>) =>
  new Request('https://example.com/', { method: 'POST', headers, body })

describe('verifySignature', () => {
  const verify = (message: ReturnType<typeof signed>, secrets: string | string[] = SECRET) =>
    verifySignature(message, secrets, { now: NOW })

  test('accepts a message with a right signature, from Headers, an object of Node, text or bytes', async () => {
    const message = signed('{"é":1}')
    expect(await verify(message)).toBe(true)
    const headers = new Headers(message.headers)
    expect(await verifySignature({ headers, body: message.body }, SECRET, { now: NOW })).toBe(true)
    const body = new TextEncoder().encode(message.body)
    expect(await verifySignature({ ...message, body }, SECRET, { now: NOW })).toBe(true)
  })
  test('matches a vector made with OpenSSL', async () => {
    const headers = {
      'twitch-eventsub-message-id': 'e76c6bd4-55c9-4987-8304-da1588d8988b',
      'twitch-eventsub-message-timestamp': '2026-03-01T12:00:00.000Z',
      'twitch-eventsub-message-signature':
        'sha256=04a0f4beb55ab000ea9bd41ed7b6e88961d2d344379b22a46f742ff16771a758',
    }
    expect(await verifySignature({ headers, body: '{}' }, 'ten charss', { now: NOW })).toBe(true)
  })
  test('accepts either of two secrets while one is being replaced', async () => {
    expect(await verify(signed('{}'), ['a new secret', SECRET])).toBe(true)
    expect(await verify(signed('{}', { secret: 'a new secret' }), ['a new secret', SECRET])).toBe(true)
    expect(await verify(signed('{}', { secret: 'a third secret' }), ['a new secret', SECRET])).toBe(false)
    expect(await verify(signed('{}'), [])).toBe(false)
  })
  test('refuses any altered byte of id, time, body or signature', async () => {
    const message = signed('{"a":1}')
    expect(await verify({ ...message, body: '{"a":2}' })).toBe(false)
    for (const [name, value] of Object.entries(message.headers)) {
      if (name.endsWith('message-type')) continue
      for (let index = 0; index < value.length; index += 7) {
        const altered = `${value.slice(0, index)}0${value.slice(index + 1)}`
        if (altered === value) continue
        expect([
          altered,
          await verify({ ...message, headers: { ...message.headers, [name]: altered } }),
        ]).toEqual([altered, false])
      }
      const { [name]: _, ...others } = message.headers
      expect([name, await verify({ ...message, headers: others })]).toEqual([name, false])
    }
  })
  test('refuses a message that is older or newer than ten minutes', async () => {
    expect(await verify(signed('{}', { at: NOW - 599_000 }))).toBe(true)
    expect(await verify(signed('{}', { at: NOW - 601_000 }))).toBe(false)
    expect(await verify(signed('{}', { at: NOW + 601_000 }))).toBe(false)
  })
})

describe('createEventReceiver', () => {
  const receiver = (onEvent: (received: ReceivedEvent) => void | Promise<void> = () => undefined) => {
    const received: ReceivedEvent[] = []
    const revoked: string[] = []
    const receive = createEventReceiver({
      secrets: SECRET,
      now: () => NOW,
      onEvent: async each => {
        await onEvent(each)
        received.push(each)
      },
      onRevocation: each => void revoked.push(each.status),
    })
    return { receive, received, revoked }
  }
  const notification = JSON.stringify({ subscription, event })

  test('passes an event on once, and answers 204 each time', async () => {
    const { receive, received } = receiver()
    for (let n = 0; n < 3; n++) expect((await receive(posted(signed(notification)))).status).toBe(204)
    expect(received).toHaveLength(1)
    expect(received[0]).toMatchObject({ id: 'message-1', type: 'stream.offline', event })
  })
  test('passes an event on once although it comes twice at the same time', async () => {
    const { receive, received } = receiver(() => Bun.sleep(20))
    const answers = await Promise.all([1, 2].map(() => receive(posted(signed(notification)))))
    expect(answers.map(answer => answer.status)).toEqual([204, 204])
    expect(received).toHaveLength(1)
  })
  test('answers 500 when the handler throws, and takes the message again', async () => {
    let fails = true
    const { receive, received } = receiver(() => {
      if (fails) throw new Error('not now')
    })
    expect((await receive(posted(signed(notification)))).status).toBe(500)
    fails = false
    expect((await receive(posted(signed(notification)))).status).toBe(204)
    expect(received).toHaveLength(1)
  })
  test('answers a verification with its challenge', async () => {
    const { receive, received } = receiver()
    const type = 'webhook_callback_verification'
    const answer = await receive(
      posted(signed(JSON.stringify({ challenge: 'abc-1', subscription }), { type })),
    )
    expect([answer.status, await answer.text(), received]).toEqual([200, 'abc-1', []])
  })
  test('passes batched events on with their own ids', async () => {
    const { receive, received } = receiver()
    const events = ['a', 'b'].map(id => ({ id, data: { entitlement_id: id } }))
    await receive(posted(signed(JSON.stringify({ subscription, events }))))
    expect(received.map(each => each.id)).toEqual(['a', 'b'])
  })
  test('reports a revocation', async () => {
    const { receive, received, revoked } = receiver()
    const ended = { ...subscription, status: 'user_removed' }
    await receive(posted(signed(JSON.stringify({ subscription: ended }), { type: 'revocation' })))
    expect([received, revoked]).toEqual([[], ['user_removed']])
  })
  test('answers 403 to a false signature, 413 to a large body, 400 to what is not a message', async () => {
    const { receive, received } = receiver()
    const statusOf = async (message: ReturnType<typeof signed>) => (await receive(posted(message))).status
    expect(await statusOf(signed(notification, { secret: 'another secret' }))).toBe(403)
    expect(await statusOf(signed('x'.repeat(300_001)))).toBe(413)
    for (const body of ['', 'null', '[]', '{', '{"event":1}']) expect(await statusOf(signed(body))).toBe(400)
    expect(received).toEqual([])
  })
})
