import { expect, test } from 'bun:test'
import { engines, startTestServer } from '../support/server.ts'

test.each([...engines])(
  '429 after 600 heartbeats of a network in a minute, apart from its other limits, on %s',
  async engine => {
    const server = await startTestServer(engine)
    try {
      const { login } = server.world.broadcaster
      const [{ session }] = (
        await server.call({ method: 'POST', path: '/playback/session', body: { login } })
      ).body.data
      const beat = () => server.call({ method: 'POST', path: '/playback/heartbeat', body: { session } })
      let accepted = 0
      let refused = await beat()
      for (; refused.status === 204 && accepted < 5000; accepted++) refused = await beat()
      expect(accepted).toBeGreaterThanOrEqual(598)
      expect(refused.status).toBe(429)
      expect(refused.problem).toBe('too_many_requests')
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(refused.headers.get('access-control-allow-origin')).toBe('*')
      expect((await server.call({ path: '/helix/streams' })).status).toBe(200)
      expect((await server.call({ path: '/oauth2/keys' })).status).toBe(200)
    } finally {
      await server.stop()
    }
  },
  60_000,
)
