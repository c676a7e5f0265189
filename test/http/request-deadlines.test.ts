import { afterAll, afterEach, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { startTestServer, type TestServer } from '../support/server.ts'

/** Longer than a request may take. */
const LATE_MILLISECONDS = 11_000

describe('a request that takes too long', () => {
  let server: TestServer
  const restores: (() => void)[] = []
  beforeAll(async () => {
    server = await startTestServer('sqlite')
  })
  afterEach(() => {
    for (const restore of restores.splice(0)) restore()
  })
  afterAll(() => server.stop())

  /** From the next request on, the clock of requests is ahead: what began before has waited for long. */
  const passTime = () => {
    const now = performance.now.bind(performance)
    const spy = spyOn(performance, 'now').mockImplementation(() => now() + LATE_MILLISECONDS)
    restores.push(() => spy.mockRestore())
  }
  const hang = () => {
    const asked = Promise.withResolvers<void>()
    const spy = spyOn(server.strand.services.store.games, 'withNames').mockImplementation((() => {
      asked.resolve()
      return new Promise(() => undefined)
    }) as never)
    restores.push(() => spy.mockRestore())
    return asked.promise
  }

  test('503 with Retry-After instead of a closed connection', async () => {
    const asked = hang()
    const answer = server.call({
      path: '/helix/games',
      query: { name: 'Nothing' },
      token: server.world.client.app_token,
    })
    await asked
    passTime()
    const { status, body, headers } = await answer
    expect(status).toBe(503)
    expect(body).toMatchObject({ error: 'Service Unavailable', status: 503 })
    expect(headers.get('retry-after')).not.toBeNull()
  })

  test('200 for one that is answered, whatever waits beside it', async () => {
    const asked = hang()
    const waiting = server.call({
      path: '/helix/games',
      query: { name: 'Nothing' },
      token: server.world.client.app_token,
    })
    await asked
    const { status } = await server.call({
      path: '/helix/games',
      query: { id: server.world.game.id },
      token: server.world.client.app_token,
    })
    expect(status).toBe(200)
    passTime()
    expect((await waiting).status).toBe(503)
  })
})
