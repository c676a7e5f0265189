/**
 * Many claims of one drop at once, through two nodes, beside the claim that the campaign makes for its viewers: every viewer
 * has one entitlement for each benefit, an event for each, and the same answer from both nodes.
 *
 * A longer run: TEST_CLAIMING_VIEWERS=1000
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PlaybackSessions } from '../../src/auth/playback-sessions.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { isoMillis } from '../../src/kit/time/clock.ts'
import { type Node, startTwoNodes, type TwoNodes } from '../support/cli/nodes.ts'
import { engines, executeIn } from '../support/server.ts'

const VIEWERS = Number(process.env.TEST_CLAIMING_VIEWERS || 20)
const CLAIMS = 64
/** Viewers who claim at the same time. */
const CONCURRENCY = 4
const BENEFITS = 3
const HOUR = 3_600_000

describe.skipIf(!engines.includes('postgres'))('claims on two nodes', () => {
  let started: TwoNodes
  let receiver: ReturnType<typeof Bun.serve>
  beforeAll(async () => {
    receiver = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async request =>
        new Response(((await request.json()) as { challenge?: string }).challenge ?? null),
    })
    started = await startTwoNodes({
      STRAND_EVENT_CALLBACKS: 'any',
      STRAND_EARNING_PER_NETWORK: '100000',
      STRAND_LOG: 'info',
    })
  })
  afterAll(async () => {
    for (const node of started.nodes) await node.stop()
    for (const cable of started.cables) await cable.close()
    await started.place.remove()
    await receiver.stop(true)
  })

  const post = async (node: Node, path: string, body: object, token?: string): Promise<Response> => {
    const headers = { Connection: 'close', ...(token && { Authorization: `Bearer ${token}` }) }
    return fetch(`${node.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  /** Claims until the minute that another node has counted is there, and the store is not too busy. */
  const claim = async (node: Node, drop_id: string, token: string): Promise<string> => {
    for (;;) {
      const answer = await post(node, '/drops/claims', { drop_id }, token)
      const text = await answer.text()
      if (answer.status === 200) return text
      expect([409, 503]).toContain(answer.status)
    }
  }

  test(
    `${CLAIMS} claims of a drop by each of ${VIEWERS} viewers are one claim each, with equal answers`,
    async () => {
      const [one, two] = started.nodes
      const make = (path: string, body: object) => one.control('POST', path, body)
      const { id: organization_id } = await make('/organizations', { name: 'Reef' })
      const { id: game_id } = await make('/games', { name: 'Kite Racers', organization_id })
      const benefit_ids: string[] = []
      for (let count = 0; count < BENEFITS; count++)
        benefit_ids.push((await make('/benefits', { name: `Kite ${count}`, organization_id })).id)
      const { id: client_id } = await make('/clients', { name: 'Studio', organization_id })
      const { access_token } = await make('/tokens', { client_id })
      const subscribed = await post(
        one,
        '/helix/eventsub/subscriptions',
        {
          type: 'drop.entitlement.grant',
          version: '1',
          condition: { organization_id },
          is_batching_enabled: true,
          transport: { method: 'webhook', callback: receiver.url.href, secret: 'a secret of reefs' },
        },
        access_token,
      )
      expect([subscribed.status, subscribed.ok ? '' : await subscribed.text()]).toEqual([202, ''])
      const enabled = `select 1 from event_subscriptions where status = 'enabled'`
      while ((await executeIn(started.place, enabled)).length === 0) await Bun.sleep(20)
      const { id: channel } = await make('/users', { login: 'star' })
      await one.control('PATCH', `/channels/${channel}`, { game_id })
      await one.control('PUT', `/channels/${channel}/stream`, {})
      const [id, drop_id] = [crypto.randomUUID(), crypto.randomUUID()]
      await one.control('PUT', `/campaigns/${id}`, {
        name: 'Reef week',
        organization_id,
        game_id,
        starts_at: isoMillis(Date.now() - HOUR),
        ends_at: isoMillis(Date.now() + HOUR),
        auto_claim: true,
        drops: [{ id: drop_id, name: 'A kite', required_minutes: 2, benefit_ids }],
      })
      await make(`/campaigns/${id}/publish`, {})
      const key = one.environment.STRAND_MASTER_KEYS?.split(':')[1] ?? ''
      const sessions = new PlaybackSessions(new KeyRing([{ id: 'test', bytes: Buffer.from(key, 'base64') }]))

      /** The second minute is counted on one node, while both are asked to claim. */
      const watchAndClaim = async (viewer: string): Promise<void> => {
        await one.control('PUT', `/users/${viewer}`, { login: `viewer_${viewer}` })
        const scopes = ['user:manage:drops']
        const token = (await make('/tokens', { client_id, user_id: viewer, scopes })).access_token
        await make(`/campaigns/${id}/viewers/${viewer}/minutes`, { add: 1 })
        const { session } = sessions.mint({ user_id: channel, watches: 'live', viewer }, Date.now() - HOUR)
        const heard = post(one, '/playback/heartbeat', { session }).then(answer => answer.status)
        const claims = Array.from({ length: CLAIMS }, (_, n) =>
          claim(n % 2 === 0 ? one : two, drop_id, token),
        )
        expect(await heard).toBe(200)
        const [answer = '', ...others] = await Promise.all(claims)
        expect(JSON.parse(answer).data[0].entitlement_ids).toHaveLength(BENEFITS)
        expect(new Set([answer, ...others]).size).toBe(1)
      }
      const waiting = Array.from({ length: VIEWERS }, (_, n) => String(1000 + n))
      const work = async () => {
        for (let viewer = waiting.pop(); viewer !== undefined; viewer = waiting.pop())
          await watchAndClaim(viewer)
      }
      await Promise.all(Array.from({ length: CONCURRENCY }, work))

      const count = async (table: string, column: string): Promise<number[]> => {
        const rows = await executeIn(started.place, `select count(*) as n from ${table} group by ${column}`)
        return rows.map(row => Number(row.n))
      }
      const perViewer = Array.from({ length: VIEWERS }, () => BENEFITS)
      expect(await count('drop_claims', 'user_id')).toEqual(perViewer)
      expect(await count('organization_entitlements', 'user_id')).toEqual(perViewer)
      const grants = `events where type = 'drop.entitlement.grant'`
      expect(await count(grants, `cast(body as json) ->> 'user_id'`)).toEqual(perViewer)
    },
    120_000 + VIEWERS * 3000,
  )
})
