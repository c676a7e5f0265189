/** Answers from memory are sent without a promise, which costs a tenth of them. */
import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test'
import { LocalLimiter } from '../../src/http/limits/rate-limit.ts'
import { NO_PEER } from '../../src/http/request-context.ts'
import { Application } from '../../src/http/server.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

let server: TestServer
let application: Application

beforeAll(async () => {
  server = await startTestServer('sqlite')
  const received = spyOn(Application.prototype, 'receive')
  await server.call({ path: '/helix/games/top' })
  application = received.mock.contexts[0] as Application
  received.mockRestore()
})
afterAll(() => server.stop())

function ask(path: string, token: string): Response | Promise<Response> {
  const headers = { Authorization: `Bearer ${token}`, Host: new URL(server.url).host }
  return application.handle(new Request(`${server.url}${path}`, { headers }), NO_PEER, ['helix', 'oauth'])
}

const usersQuery = (count: number) =>
  server.world.users
    .slice(0, count)
    .map(({ id }) => `user_id=${id}`)
    .join('&')

test('200 for a token that is cached, and for streams, at once', async () => {
  const { token } = server.world.broadcaster
  for (const path of [
    '/oauth2/validate',
    '/helix/streams?first=3',
    `/helix/streams?${usersQuery(1)}`,
    `/helix/streams?${usersQuery(10)}`,
  ]) {
    const [first, second] = [await ask(path, token), ask(path, token)]
    expect([path, first.status, second instanceof Response]).toEqual([path, 200, true])
    expect(await (await second).json()).toEqual(await first.json())
  }
})

test('200 for a page that is not in memory, later, for one point', async () => {
  const { token } = server.world.broadcaster
  const first = await ask('/helix/streams?first=2', token)
  const { pagination } = (await first.json()) as { pagination: { cursor: string } }
  const next = `/helix/streams?first=2&after=${pagination.cursor}`
  const second = await ask(next, token)
  const knows = spyOn(server.strand.services.directory, 'knows').mockReturnValueOnce(false)
  const points = spyOn(LocalLimiter.prototype, 'takeLocally')
  const third = ask(next, token)
  expect(third).toBeInstanceOf(Promise)
  expect((await third).status).toBe(200)
  expect(await (await third).json()).toEqual(await second.json())
  expect(points).toHaveBeenCalledTimes(1)
  knows.mockRestore()
  points.mockRestore()
})

test('401 for a token that is not cached, later', async () => {
  const refused = ask('/oauth2/validate', 'x'.repeat(30))
  expect(refused).toBeInstanceOf(Promise)
  expect((await refused).status).toBe(401)
})
