/** The name of an error beside its message (D-160), and when to try again (D-161). */
import { expect, test } from 'bun:test'
import { Problem, type ProblemName, problems, type Refusal } from '../../src/contract/problem.ts'
import { onEachStore } from '../support/server/each-store.ts'

onEachStore('errors', {}, server => {
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(server().url + path, { ...init, headers: { Origin: 'https://example.com', ...init.headers } })
  const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } })

  test('401, 400, 404: the header Strand-Error has the name, and the body is as ever', async () => {
    const { world } = server()
    const cases: [Promise<Response>, number, ProblemName, string[]][] = [
      [ask('/helix/streams', bearer('wrong')), 401, 'token_invalid', ['error', 'status', 'message']],
      [ask('/helix/streams?first=0'), 400, 'malformed_parameter', ['error', 'status', 'message']],
      [
        ask('/helix/streams/key?broadcaster_id=1', bearer(world.client.app_token)),
        401,
        'user_token_required',
        ['error', 'status', 'message'],
      ],
      [ask('/helix/nothing'), 404, 'route_unknown', ['error', 'status', 'message']],
      [ask('/oauth2/validate'), 401, 'missing_authorization', ['status', 'message']],
      [ask('/oauth2/token', { method: 'POST' }), 400, 'missing_grant_type', ['status', 'message']],
      [
        ask('/control/users/1', bearer(world.operator_token)),
        404,
        'not_found',
        ['error', 'status', 'message'],
      ],
      [ask('/nothing-here-at-all.json'), 404, 'route_unknown', ['error', 'status', 'message']],
    ]
    for (const [asked, status, name, fields] of cases) {
      const response = await asked
      expect([response.status, response.headers.get('strand-error')]).toEqual([status, name])
      expect(Object.keys((await response.json()) as object)).toEqual(fields)
    }
  })

  test('400: the header Strand-Error-Input has the wrong input and what it must be', async () => {
    const { world } = server()
    const { headers } = bearer(world.operator_token)
    const send = async (method: string, path: string, body?: object) =>
      JSON.parse(
        (await ask(path, { method, headers, body: JSON.stringify(body) })).headers.get(
          'strand-error-input',
        ) ?? 'null',
      )
    const title = await send('PATCH', '/control/channels/1', { title: 'a'.repeat(141) })
    expect(title).toMatchObject({ field: 'title', reason: 'must be at most 140 characters' })
    const first = await send('GET', '/control/users?first=1&first=2')
    expect(first).toMatchObject({ field: 'first', reason: 'must be given once' })
    const login = await send('POST', '/control/users', {})
    expect(login).toMatchObject({ field: 'login' })
    expect(login).not.toHaveProperty('reason')
    const grants = await send('POST', '/control/entitlements', { grants: [{ user_id: 'x' }] })
    expect(grants).toMatchObject({ field: expect.stringMatching(/^grants\.0\./) })
  })

  test('200 has no such header', async () => {
    expect((await ask('/helix/streams')).headers.get('strand-error')).toBeNull()
  })

  test('pages of other sites may read the name, when to try again, and the date', async () => {
    for (const path of ['/helix/streams?first=0', '/oauth2/validate']) {
      const exposed = (await ask(path)).headers.get('access-control-expose-headers')?.split(', ')
      expect(exposed).toEqual(expect.arrayContaining(['Strand-Error', 'Retry-After', 'Date', 'X-Request-Id']))
    }
  })

  test('429 has Retry-After, under helix and under oauth2', async () => {
    const { world } = server()
    const operator = { ...bearer(world.operator_token), method: 'POST' }
    for (const [operation, path, name] of [
      ['GetStreams', '/helix/streams', 'rate_limited'],
      ['ValidateToken', '/oauth2/validate', 'too_many_requests'],
    ] as const) {
      const fault = JSON.stringify({ operation, outcome: 'rate_limited' })
      expect((await ask('/control/faults', { ...operator, body: fault })).status).toBe(200)
      const { status, headers } = await ask(path)
      expect([status, headers.get('strand-error')]).toEqual([429, name])
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    }
  })
})

test('every 429 and 503 of the contract has Retry-After', () => {
  const busy = Object.entries(problems).filter(([, { status }]) => status === 429 || status === 503)
  expect(busy.length).toBeGreaterThanOrEqual(10)
  for (const [problem] of busy) {
    const { headers } = new Problem({ problem, details: [7] } as unknown as Refusal)
    expect([problem, headers['Retry-After']]).toEqual([problem, expect.stringMatching(/^[1-9][0-9]*$/)])
  }
})
