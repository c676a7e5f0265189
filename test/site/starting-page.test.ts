/** What a server answers while it starts: a page that waits to people, JSON to programs. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { holdStart, type StartingServer } from '../support/server/starting-server.ts'

/** As browsers send it when a person opens an address. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

let server: StartingServer
beforeAll(async () => {
  server = await holdStart()
})
afterAll(() => server.stop())

const ask = (path: string, accept: string, method = 'GET') =>
  fetch(server.url + path, { method, headers: { Accept: accept } })

test('503 with a page that loads itself again, at every address of the site', async () => {
  for (const path of ['/', '/plucky_jackal', '/console', '/login?next=/studio', '/docs', '/videos/1']) {
    const response = await ask(path, BROWSER)
    expect([path, response.status, response.headers.get('content-type')]).toEqual([
      path,
      503,
      'text/html; charset=utf-8',
    ])
    expect(response.headers.get('refresh')).toBe('1')
    expect(response.headers.get('retry-after')).toBe('1')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    const html = await response.text()
    expect(html).toContain('<h1>Strand is starting</h1>')
    // Nothing else could be loaded yet.
    expect(html.match(/(?:src|href)="(?!data:)/)).toBeNull()
  }
  expect(await (await ask('/', BROWSER, 'HEAD')).text()).toBe('')
})

test('503 as JSON to programs, under the API to browsers too, and to those that watch it', async () => {
  for (const [path, accept] of [
    ['/', '*/*'],
    ['/', 'application/json'],
    ['/plucky_jackal', 'image/avif,image/webp,*/*'],
    ['/helix/streams', '*/*'],
    ['/helix/streams', BROWSER],
    ['/oauth2/validate', BROWSER],
    ['/control/users', BROWSER],
    ['/readyz', BROWSER],
  ] as const) {
    const response = await ask(path, accept)
    expect([path, accept, response.status, response.headers.get('content-type')]).toEqual([
      path,
      accept,
      503,
      'application/json',
    ])
    expect(response.headers.get('refresh')).toBeNull()
    expect(response.headers.get('retry-after')).not.toBeNull()
    expect(await response.json()).toMatchObject({ status: 503 })
  }
  expect((await ask('/login', BROWSER, 'POST')).headers.get('content-type')).toBe('application/json')
  expect((await ask('/healthz', BROWSER)).status).toBe(200)
})

test('200 at the same address once it is ready', async () => {
  await server.finish()
  const response = await ask('/', BROWSER)
  expect([response.status, response.headers.get('refresh')]).toEqual([200, null])
})
