import { expect } from 'bun:test'
import {
  createClient,
  deleteClient,
  getClient,
  listClients,
  patchClient,
  rotateClientSecret,
} from '../../../src/contract/control/clients.ts'
import { codeFor, redeem, register } from '../../support/browser/consent.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { newCampaign } from '../drops/campaigns.ts'
import { crudCalls, describeCrud, TEXT_IDS } from './crud.ts'
import { asOperator, expectEmpty, isGoodToken, UNKNOWN_UUID, walk } from './operator.ts'

const SECRET = /^ssec_[A-Za-z0-9]{38}$/
const operations = {
  create: createClient,
  patch: patchClient,
  get: getClient,
  list: listClients,
  remove: deleteClient,
}
const clients = {
  ids: TEXT_IDS,
  body: ({ world }: TestServer) => ({
    name: 'Overlay',
    organization_id: world.organization.id,
    owner_user_id: world.viewer.id,
    redirect_uris: ['https://example.org/'],
  }),
  changes: [{ name: 'Renamed' }, { organization_id: null }, { owner_user_id: null }, { redirect_uris: [] }],
  references: { organization_id: UNKNOWN_UUID, owner_user_id: '999' },
}
const { create, change: patch, get, remove } = crudCalls(operations, clients)
const rotate = (server: TestServer, id: string) =>
  send(server, rotateClientSecret, asOperator(server, { path: `/control/clients/${id}/rotate-secret` }))

async function newClient(server: TestServer, more: object = {}) {
  const { secret, ...client } = (await create(server, { name: 'Overlay', ...more })).body.data[0]
  return { client, secret }
}

/** Asks for an app token as a client does. */
const logIn = (server: TestServer, client_id: string, client_secret: string) =>
  server.call({
    method: 'POST',
    path: '/oauth2/token',
    body: { grant_type: 'client_credentials', client_id, client_secret },
  })

describeCrud(operations, clients, {
  create({ ok, fails }) {
    ok('a client is confidential, and its secret is in this answer only', async server => {
      const { client, secret } = await newClient(server)
      expect(client).toEqual({
        id: expect.stringMatching(/^[a-z0-9]{30}$/),
        name: 'Overlay',
        organization_id: null,
        owner_user_id: null,
        kind: 'confidential',
        redirect_uris: [],
        implicit_grant: false,
        device_flow: false,
        counts_watching: false,
      })
      expect(secret).toMatch(SECRET)
      expect((await logIn(server, client.id, secret)).status).toBe(200)
      expect((await get(server, client.id)).body.data).toEqual([client])
      for (const each of await walk(server, '/control/clients')) expect(each).not.toHaveProperty('secret')
    })

    ok('takes organization, owner and redirect URIs', async server => {
      const { organization, viewer } = server.world
      const given = {
        organization_id: organization.id,
        owner_user_id: viewer.id,
        redirect_uris: ['https://example.org/callback?x=1', 'myapp:done'],
        implicit_grant: true,
        device_flow: true,
      }
      const { client } = await newClient(server, given)
      expect(client).toMatchObject(given)
      expect((await get(server, client.id)).body.data).toEqual([client])
    })

    ok(
      'the device flow is on for public clients and off for confidential ones, unless a value is given',
      async server => {
        for (const [given, device_flow] of [
          [{ kind: 'public' }, true],
          [{ kind: 'confidential' }, false],
          [{ kind: 'public', device_flow: false }, false],
          [{ kind: 'confidential', device_flow: true }, true],
        ] as const) {
          const { client } = await newClient(server, given)
          expect([given, client.device_flow]).toEqual([given, device_flow])
          expect((await get(server, client.id)).body.data).toEqual([client])
        }
      },
    )

    ok('a public client has no secret', async server => {
      const { client, secret } = await newClient(server, { kind: 'public' })
      expect([client.kind, secret]).toEqual(['public', undefined])
    })

    for (const [title, more] of [
      ['the kind is another', { kind: 'secretive' }],
      ['a redirect URI is relative', { redirect_uris: ['/callback'] }],
      ['a redirect URI has a fragment', { redirect_uris: ['https://example.org/#top'] }],
      ['there are 21 redirect URIs', { redirect_uris: Array(21).fill('https://example.org/') }],
    ] as const) {
      fails('malformed_parameter', `when ${title}`, server => create(server, { name: 'Odd', ...more }))
    }
    for (const uri of [
      'javascript:1',
      'data:text/html,hi',
      'vbscript:1',
      'file:///etc/passwd',
      'blob:x',
      'about:blank',
    ]) {
      fails('malformed_parameter', `when a redirect URI is ${uri}`, async server => {
        const answer = await create(server, { name: 'Odd', redirect_uris: ['com.example.app:/cb', uri] })
        expect(answer.body.message).toStartWith(
          'The parameter "redirect_uris" was malformed: entry 2 must be an absolute URI without a fragment',
        )
        return answer
      })
    }
  },

  change({ ok }) {
    ok('the device flow keeps its given value, and otherwise follows the kind', async server => {
      const flow = async (id: string, changes: object) =>
        (await patch(server, id, changes)).body.data[0].device_flow
      const { client } = await newClient(server, { kind: 'public' })
      expect(await flow(client.id, { kind: 'confidential' })).toBe(false)
      expect(await flow(client.id, { device_flow: true })).toBe(true)
      expect(await flow(client.id, { name: 'Renamed' })).toBe(true)
      expect(await flow(client.id, { device_flow: false })).toBe(false)
      expect(await flow(client.id, { kind: 'public' })).toBe(false)
    })

    ok('a client that becomes public keeps nothing that only a confidential one may have', async server => {
      const application = await register(server)
      const unproven = await codeFor(server, application)
      const { refresh_token, access_token } = (
        await redeem(server, application, await codeFor(server, application))
      ).body
      const { access_token: app } = (await logIn(server, application.id, application.secret ?? '')).body
      await patch(server, application.id, { kind: 'public' })
      expect((await redeem(server, { id: application.id }, unproven)).status).toBe(400)
      const again = await server.call({
        method: 'POST',
        path: '/oauth2/token',
        body: { grant_type: 'refresh_token', client_id: application.id, refresh_token },
      })
      expect(again.status).toBe(400)
      expect([await isGoodToken(server, app), await isGoodToken(server, access_token)]).toEqual([false, true])
    })

    ok('a code for a redirect URI that is no longer registered ends', async server => {
      const application = await register(server)
      const code = await codeFor(server, application)
      await patch(server, application.id, { name: 'Renamed' })
      await patch(server, application.id, { redirect_uris: ['https://example.org/elsewhere'] })
      const answer = await redeem(server, application, code)
      expect([answer.status, answer.problem]).toEqual([400, 'invalid_code'])
    })

    ok('its tokens see the new organization at once', async server => {
      const { client, secret } = await newClient(server)
      const { access_token: token } = (await logIn(server, client.id, secret)).body
      const drops = () => server.call({ path: '/helix/entitlements/drops', token })
      expect((await drops()).problem).toBe('no_organization')
      await patch(server, client.id, { organization_id: server.world.organization.id.toUpperCase() })
      expect((await drops()).status).toBe(200)
    })

    ok('a change of the name leaves the secret valid', async server => {
      const { client, secret } = await newClient(server)
      await patch(server, client.id, { name: 'Renamed' })
      expect((await logIn(server, client.id, secret)).status).toBe(200)
    })
  },

  get({ ok }) {
    ok('shows the client without its secret', async server => {
      const { client, organization } = server.world
      const { body, text } = await get(server, client.id)
      expect(body.data[0]).toMatchObject({ id: client.id, organization_id: organization.id })
      expect(text).not.toContain('secret')
    })
  },

  list() {},

  remove({ ok, fails }) {
    fails('in_use', 'when a campaign links accounts with it', async server => {
      const { client } = await newClient(server, { organization_id: server.world.organization.id })
      await newCampaign(server, { link_client_id: client.id })
      const answer = await remove(server, client.id)
      expect((await get(server, client.id)).status).toBe(200)
      return answer
    })

    ok('ends every token of the client at once', async server => {
      const { client, secret } = await newClient(server)
      const { access_token: app } = (await logIn(server, client.id, secret)).body
      const [user] = await server.control('POST', '/tokens', {
        client_id: client.id,
        user_id: server.world.viewer.id,
      })
      for (const token of [app, user.access_token]) expect(await isGoodToken(server, token)).toBe(true)
      expectEmpty(await remove(server, client.id))
      for (const token of [app, user.access_token]) {
        expect(await isGoodToken(server, token)).toBe(false)
        expect((await server.call({ path: '/helix/streams', token })).status).toBe(401)
      }
      expect((await get(server, client.id)).status).toBe(404)
      expect((await logIn(server, client.id, secret)).body.message).toBe('invalid client')
    })

    ok('tokens of other clients stay', async server => {
      expectEmpty(await remove(server, (await newClient(server)).client.id))
      expect(await isGoodToken(server, server.world.client.app_token)).toBe(true)
    })
  },
})

describeOperation(
  rotateClientSecret,
  {
    valid: async server =>
      asOperator(server, {
        path: `/control/clients/${(await newClient(server)).client.id}/rotate-secret`,
      }),
  },
  ({ ok, fails }) => {
    ok('the new secret works, the old one ends at once, tokens stay', async server => {
      const { client, secret } = await newClient(server)
      const { access_token } = (await logIn(server, client.id, secret)).body
      const { body } = await rotate(server, client.id)
      const { secret: fresh, ...shown } = body.data[0]
      expect(shown).toEqual(client)
      expect(fresh).toMatch(SECRET)
      expect((await logIn(server, client.id, fresh)).status).toBe(200)
      expect((await logIn(server, client.id, secret)).status).toBe(403)
      expect(await isGoodToken(server, access_token)).toBe(true)
      expect((await get(server, client.id)).text).not.toContain('secret')
    })

    fails('not_found', 'when it does not exist', server => rotate(server, 'unknown'))
    fails('in_use', 'when the client is public', async server =>
      rotate(server, (await newClient(server, { kind: 'public' })).client.id),
    )
  },
)
