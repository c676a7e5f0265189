import { expect } from 'bun:test'
import { createDeviceCode } from '../../../src/contract/oauth/create-device-code.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'

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
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(server, valid(server))))
    expect(new Set(answers.map(({ body }) => body.device_code)).size).toBe(50)
    expect(new Set(answers.map(({ body }) => body.user_code)).size).toBe(50)
  })

  fails('repeated_parameter', 'when query and body disagree', server =>
    ask(server, { ...valid(server), query: { client_id: 'another' } }),
  )
  fails('missing_client_id', 'without a client', server => ask(server, { body: {} }))
  fails('invalid_client', 'when the client is unknown', server =>
    ask(server, { body: { client_id: 'nobody' } }),
  )
  fails('invalid_scope', 'when a scope is malformed', server =>
    ask(server, { body: { client_id: server.world.client.id, scopes: 'No!' } }),
  )
})
