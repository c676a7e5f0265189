/** The calls and the log-in of README work as they are pasted, against a server like the demo. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Person } from '../support/browser/person.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const readme = readFileSync('README.md', 'utf8')

let server: TestServer
beforeAll(async () => {
  server = await startTestServer('sqlite', { seed: 42, streams: 200 })
})
afterAll(() => server.stop())

test('every call is answered', async () => {
  const calls = [...readme.matchAll(/^```sh\n(curl .*?)^```/gms)].map(([, line = '']) => line)
  expect(calls.length).toBeGreaterThan(2)
  // What README does with an encoder; another test does that too.
  const [, channel = ''] = /localhost:8080(\/control\/channels\/\d+\/stream)/.exec(calls.join()) ?? []
  await server.control('PUT', channel.replace('/control', ''), { viewer_count: 0 })
  for (const call of calls) {
    const line = call
      .replaceAll('http://localhost:8080', server.url)
      .replace(/sopr_\w+/, server.world.operator_token)
      .replace('curl ', 'curl --fail-with-body --silent ')
    const shell = Bun.spawn(['bash', '-c', line], { stdout: 'pipe' })
    const answer = await new Response(shell.stdout).text()
    expect([call, await shell.exited, JSON.parse(answer)]).toEqual([
      call,
      0,
      expect.objectContaining({ data: expect.anything() }),
    ])
  }
})

test('the log-in works', async () => {
  const [, login = '', password = ''] = /Log in as `(\w+)` with the password `([^`]+)`/.exec(readme) ?? []
  const person = new Person(server)
  await person.browse('/login')
  const { status } = await person.submit('/login', { login, password })
  expect(status).toBe(200)
  const studio = await person.browse('/studio')
  for (const part of ['Markers', `/studio/${login}/channel`]) expect(studio.html).toContain(part)
  expect((await person.browse(`/studio/${login}/channel`)).html).toContain('Stream key')
})
