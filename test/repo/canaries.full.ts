/** The watch over secrets, watched: what is planted is found, in both stores and in the log. */
import { describe, expect, test } from 'bun:test'
import { mintSecret } from '../../src/auth/tokens.ts'
import { engines, startTestServer, type TestServer } from '../support/server.ts'

const FORMS: readonly [string, (secret: string) => string][] = [
  ['as it is', secret => secret],
  ['in hex', secret => Buffer.from(secret).toString('hex')],
  ['in base64', secret => Buffer.from(secret).toString('base64')],
]

const violationOf = (server: TestServer): Promise<string> =>
  server.stop().then(
    () => 'nothing',
    (error: Error) => error.message,
  )

for (const engine of engines) {
  describe(`a secret left on ${engine}`, () => {
    for (const [title, form] of FORMS) {
      test(`in the store, ${title}`, async () => {
        const server = await startTestServer(engine)
        const secret = server.world.client.app_token
        await server.control('POST', '/games', { name: `x ${form(secret)}`.slice(0, 140) })
        expect(await violationOf(server)).toContain('secrets were left')
      })
    }

    test('in the log', async () => {
      const server = await startTestServer(engine)
      server.strand.services.log.info({ url: `/x?token=${mintSecret('user')}` }, 'careless')
      expect(await violationOf(server)).toContain('secrets were left')
    })

    test('none: nothing is reported', async () => {
      const server = await startTestServer(engine)
      await server.call({ path: '/helix/streams', token: server.world.client.app_token })
      expect(await violationOf(server)).toBe('nothing')
    })
  })
}
