/** The harness reports why a message has not arrived. */
import { expect, test } from 'bun:test'
import { startStrand } from '../../src/testing/start-strand.ts'

test('pending messages are listed with the answer to the last attempt, the oldest first', async () => {
  using receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response('', { status: 418 }),
  })
  await using strand = await startStrand({ streams: 2 })
  expect(await strand.events.pending()).toEqual([])
  const [one, two] = strand.world.users
  for (const user of [one, two]) {
    const response = await fetch(`${strand.url}/helix/eventsub/subscriptions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${strand.client.app_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        type: 'stream.online',
        version: '1',
        condition: { broadcaster_user_id: user?.id },
        transport: { method: 'webhook', callback: `${receiver.url}events`, secret: 'only for these tests' },
      }),
    })
    expect(response.status).toBe(202)
  }
  let pending = await strand.events.pending()
  while (pending.length < 2 || pending.some(each => each.answer_status === null))
    pending = await strand.events.pending()
  expect(pending).toMatchObject([
    { kind: 'webhook_callback_verification', type: 'stream.online', attempts: 1, answer_status: 418 },
    { kind: 'webhook_callback_verification', type: 'stream.online', attempts: 1, answer_status: 418 },
  ])
  expect((pending[0]?.created_at ?? '') <= (pending[1]?.created_at ?? '')).toBe(true)
  expect(pending.every(each => each.due_at !== null)).toBe(true)
})
