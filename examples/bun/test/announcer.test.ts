import { afterAll, expect, test } from 'bun:test'
import { startStrand } from 'strand-server'
import { createClient } from 'strand-server/client'
import { startAnnouncer } from '../src/announcer.ts'

const SECRET = 'a secret of 10 to 100 characters'

const strand = await startStrand({
  clock: '2026-03-01T12:00:00Z',
  scenario: {
    users: { otter: {} },
    events: [
      { type: 'stream.online', user: 'otter', after_seconds: 60 },
      { type: 'stream.offline', user: 'otter', after_seconds: 120 },
    ],
  },
})
const lines: string[] = []
const announcer = startAnnouncer(SECRET, line => lines.push(line))
afterAll(async () => {
  await announcer.stop(true)
  await strand.stop()
})

async function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isMet())) await Bun.sleep(10)
}

test('announces when a broadcast starts and ends', async () => {
  const { helix } = createClient({ baseUrl: strand.url, token: strand.client.app_token })
  const broadcaster_user_id = strand.world.scenario.otter.id
  for (const type of ['stream.online', 'stream.offline'] as const) {
    await helix.createEventSubSubscription({
      type,
      version: '1',
      condition: { broadcaster_user_id },
      transport: { method: 'webhook', callback: announcer.url.href, secret: SECRET },
    })
  }
  await until(async () => (await helix.getEventSubSubscriptions({ status: 'enabled' })).data.length === 2)

  await strand.clock.advance(60)
  await until(() => lines.length === 1)
  await strand.clock.advance(60)
  await until(() => lines.length === 2)
  expect(lines).toEqual(['otter is live', 'otter is offline'])
})

test('refuses a message with a wrong signature', async () => {
  const forged = await fetch(announcer.url, { method: 'POST', body: '{}' })
  expect(forged.status).toBe(403)
})
