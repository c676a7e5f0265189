import { expect } from 'bun:test'
import { createDeviceCode } from '../../../src/contract/oauth/create-device-code.ts'
import { register } from '../../support/browser/consent.ts'
import { describeOperation, retryWhileUnavailable, send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'

const manyScopes = (count: number) => Array.from({ length: count }, (_, n) => `chat:${'x'.repeat(n + 1)}`)

const ask = (server: TestServer, changes: Ask) => send(server, createDeviceCode, changes)
const valid = ({ world }: TestServer): Ask => ({
  body: { client_id: world.client.id, scopes: 'user:read:follows chat:read' },
})

describeOperation(createDeviceCode, { valid }, ({ ok, fails }) => {
  ok('answers with codes for the device and for the person', async server => {
    const { body } = await ask(server, valid(server))
    expect(body).toEqual({
      device_code: expect.stringMatching(/^[A-Za-z0-9]{40}$/),
      expires_in: 1800,
      interval: 5,
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/),
      verification_uri: `${server.url}/activate?device-code=${body.user_code}`,
    })
  })

  ok(
    'needs no secret, and no scopes; takes them by either name, from anywhere, under /auth too',
    async server => {
      const { id } = server.world.client
      const requests: Ask[] = [
        { query: { client_id: id } },
        { query: { client_id: id, scope: 'chat:read' } },
        {
          rawBody: `client_id=${id}&scopes=chat%3Aread`,
          headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        },
        { ...valid(server), path: '/auth/device' },
      ]
      for (const request of requests) expect((await ask(server, request)).status).toBe(200)
    },
  )

  ok('no two are alike', async server => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => retryWhileUnavailable(() => ask(server, valid(server)))),
    )
    expect(new Set(answers.map(({ body }) => body.device_code)).size).toBe(50)
    expect(new Set(answers.map(({ body }) => body.user_code)).size).toBe(50)
  })

  fails('repeated_parameter', 'when query and body disagree', server =>
    ask(server, { ...valid(server), query: { client_id: 'another' } }),
  )
  fails('missing_client_id', 'without a client', server => ask(server, { body: {} }))
  fails('invalid_client', 'when the client is unknown', server =>
    ask(server, { body: { client_id: 'unknown' } }),
  )
  ok(
    'a public client may unless it was switched off, a confidential one if it was switched on',
    async server => {
      const clients = [
        await register(server, { kind: 'public' }),
        await register(server, { device_flow: true }),
      ]
      for (const { id, secret } of clients) {
        expect((await ask(server, { body: { client_id: id } })).status).toBe(200)
        const body = { client_id: id, client_secret: secret ?? 'what a public client sends does not matter' }
        expect((await ask(server, { body })).status).toBe(200)
      }
    },
  )

  ok('50 scopes are allowed, the names of properties of every object among them', async server => {
    const names = ['constructor', '__proto__', 'to_string', ...manyScopes(47)]
    const body = { client_id: server.world.client.id, scopes: names.join(' ') }
    expect((await ask(server, { body })).status).toBe(200)
  })

  for (const [title, changes] of [
    ['of a confidential client', {}],
    ['of a public client that has it switched off', { kind: 'public', device_flow: false }],
  ] as const) {
    fails('device_flow_off', title, async server => {
      const { id } = await register(server, changes)
      return ask(server, { body: { client_id: id } })
    })
  }
  fails('device_flow_off', 'when a public client becomes confidential', async server => {
    const { id } = await register(server, { kind: 'public' })
    expect((await ask(server, { body: { client_id: id } })).status).toBe(200)
    await server.control('PATCH', `/clients/${id}`, { kind: 'confidential' })
    return ask(server, { body: { client_id: id } })
  })
  fails('invalid_client_secret', 'when a secret is sent and is wrong', server =>
    ask(server, { body: { client_id: server.world.other_client.id, client_secret: 'wrong' } }),
  )
  fails('too_many_attempts', 'after ten wrong secrets', async server => {
    const { id } = await register(server, { device_flow: true })
    const guess = () => ask(server, { body: { client_id: id, client_secret: 'wrong' } })
    for (let n = 0; n < 10; n++) expect((await guess()).status).toBe(403)
    return guess()
  })
  fails('too_many_scopes', 'with 51', server =>
    ask(server, { body: { client_id: server.world.client.id, scopes: manyScopes(51).join(' ') } }),
  )
  fails('malformed_parameter', 'when a parameter is longer than it can be', server =>
    ask(server, { body: { client_id: 'c'.repeat(201) } }),
  )
  fails('invalid_scope', 'when a scope is malformed', server =>
    ask(server, { body: { client_id: server.world.client.id, scopes: 'No!' } }),
  )
})
