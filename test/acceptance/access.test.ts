/**
 * Who gets in where: every operation of the census with every kind of credentials, on both stores. What is expected
 * follows from the operation's declared access; only what another user's token gets is listed here, by operation.
 */
import { expect, test } from 'bun:test'
import { operations } from '../../src/contract/index.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { type ProblemName, problems } from '../../src/contract/problem.ts'
import { statusOf, subscribeSocket, until } from '../events/receiver.ts'
import { latestVideo } from '../operations/control/operator.ts'
import { publishedCampaign } from '../operations/drops/campaigns.ts'
import { wanted } from '../operations/helix/subscriptions.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { EventClient } from '../support/server/event-client.ts'
import type { Answer, Ask, TestServer } from '../support/server.ts'

type Outcome = 'in' | ProblemName

interface Row {
  /** A request about the broadcaster, without a token. */
  readonly ask: (server: TestServer) => Ask | Promise<Ask>
  /** What the token of another user, with the right scope, gets. */
  readonly otherUser: Outcome
  /** What shows the difference where it gets in: nothing of the broadcaster's is in the answer. */
  readonly showsNothing?: (answer: Answer, server: TestServer) => void
  /** What the token of any user gets, where the request decides that the client has to ask. */
  readonly anyUser?: Outcome
}

const ANY_ENTITLEMENT = '00000000-0000-4000-8000-000000000000'

/** A drop that the broadcaster has reached, which is not claimed. */
async function reachedDrop(server: TestServer): Promise<string> {
  const campaign = await publishedCampaign(server)
  const path = `/campaigns/${campaign.id}/viewers/${server.world.broadcaster.id}/minutes`
  await server.control('POST', path, { add: 30 })
  return campaign.drops[0].id
}

const rows: Readonly<Record<string, Row>> = {
  GetStreams: { ask: () => ({}), otherUser: 'in' },
  GetFollowedStreams: {
    ask: ({ world }) => ({ query: { user_id: world.broadcaster.id } }),
    otherUser: 'identity_mismatch',
  },
  GetStreamKey: {
    ask: ({ world }) => ({ query: { broadcaster_id: world.broadcaster.id } }),
    otherUser: 'identity_mismatch',
  },
  CreateStreamMarker: {
    ask: ({ world }) => ({ body: { user_id: world.broadcaster.id } }),
    otherUser: 'marker_forbidden',
  },
  GetStreamMarkers: {
    ask: ({ world }) => ({ query: { user_id: world.broadcaster.id } }),
    otherUser: 'channel_forbidden',
  },
  GetVideos: { ask: ({ world }) => ({ query: { user_id: world.broadcaster.id } }), otherUser: 'in' },
  DeleteVideos: {
    ask: () => ({ query: { id: '999' } }),
    otherUser: 'in',
    showsNothing: ({ body }) => expect(body.data).toEqual([]),
  },
  ExportStreamMarkers: {
    ask: async server => {
      const video_id = await latestVideo(server, server.world.broadcaster.id)
      return { query: { video_id, format: 'json' } }
    },
    otherUser: 'channel_forbidden',
  },
  GetDropsEntitlements: {
    ask: () => ({}),
    otherUser: 'in',
    showsNothing: ({ body }, { world }) => {
      for (const each of body.data) expect(each.user_id).toBe(world.offline.id)
    },
  },
  UpdateDropsEntitlements: {
    ask: () => ({ body: { entitlement_ids: [ANY_ENTITLEMENT], fulfillment_status: 'FULFILLED' } }),
    otherUser: 'in',
    showsNothing: ({ body }) => expect(body.data).toEqual([{ status: 'NOT_FOUND', ids: [ANY_ENTITLEMENT] }]),
  },
  CreatePlaybackSession: {
    ask: ({ world }) => ({ body: { login: world.broadcaster.login } }),
    otherUser: 'in',
  },
  GetDropsCampaigns: { ask: () => ({}), otherUser: 'in' },
  GetDropsCampaign: {
    ask: async server => ({ path: `/drops/campaigns/${(await publishedCampaign(server)).id}` }),
    otherUser: 'in',
  },
  GetDropsProgress: {
    ask: async server => {
      await reachedDrop(server)
      return {}
    },
    otherUser: 'in',
    showsNothing: ({ body }) => expect(body.data).toEqual([]),
  },
  ClaimDrop: {
    ask: async server => ({ body: { drop_id: await reachedDrop(server) } }),
    otherUser: 'drop_not_reached',
  },
  GetUsers: {
    ask: ({ world }) => ({ query: { id: world.broadcaster.id } }),
    otherUser: 'in',
    showsNothing: ({ body }) => expect(body.data[0]).not.toHaveProperty('email'),
  },
  UpdateUser: {
    ask: () => ({ query: { description: 'Changed' } }),
    otherUser: 'in',
    showsNothing: ({ body }, { world }) => expect(body.data[0].id).toBe(world.offline.id),
  },
  GetGames: { ask: ({ world }) => ({ query: { id: world.game.id } }), otherUser: 'in' },
  SearchCategories: { ask: () => ({ query: { query: 'the' } }), otherUser: 'in' },
  GetTopGames: { ask: () => ({}), otherUser: 'in' },
  SearchChannels: { ask: () => ({ query: { query: 'a' } }), otherUser: 'in' },
  GetChannelInformation: {
    ask: ({ world }) => ({ query: { broadcaster_id: world.broadcaster.id } }),
    otherUser: 'in',
    showsNothing: ({ body }) => expect(body.data[0].delay).toBe(0),
  },
  ModifyChannelInformation: {
    ask: ({ world }) => ({ query: { broadcaster_id: world.broadcaster.id }, body: { title: 'Changed' } }),
    otherUser: 'identity_mismatch',
  },
  GetFollowedChannels: {
    ask: ({ world }) => ({ query: { user_id: world.broadcaster.id } }),
    otherUser: 'identity_mismatch',
  },
  GetChannelFollowers: {
    ask: ({ world }) => ({ query: { broadcaster_id: world.broadcaster.id } }),
    otherUser: 'in',
    showsNothing: ({ body }) => expect(body.data).toEqual([]),
  },
  GetChannelEditors: {
    ask: ({ world }) => ({ query: { broadcaster_id: world.broadcaster.id } }),
    otherUser: 'identity_mismatch',
  },
  CreateEventSubSubscription: {
    ask: server => ({ body: wanted(server) }),
    anyUser: 'wrong_token_kind',
    otherUser: 'wrong_token_kind',
  },
  GetEventSubSubscriptions: { ask: () => ({}), otherUser: 'in' },
  DeleteEventSubSubscription: {
    ask: async server => ({ query: { id: await subscribedByWebSocket(server) } }),
    otherUser: 'not_found',
  },
}

/** A subscription of the broadcaster, which has ended: a user may have few sockets. */
async function subscribedByWebSocket(server: TestServer): Promise<string> {
  const socket = await EventClient.connect(`${server.url}/ws`)
  const { body } = await subscribeSocket(server, await socket.sessionId())
  const { id } = body.data[0]
  socket.close()
  await until(async () => (await statusOf(server, id)) !== 'enabled')
  return id
}

/** Credentials by what is wrong with them; `right` are the broadcaster's. */
const credentials = {
  'no token': async () => ({}),
  'a malformed token': async () => ({ token: 'not-a-token' }),
  'an expired token': async (server: TestServer, scopes: readonly string[]) => {
    const token = await userToken(server, scopes, { expires_in: 1 })
    await server.control('POST', '/clock', { advance_seconds: 2 })
    return { token }
  },
  'a revoked token': async (server: TestServer, scopes: readonly string[]) => {
    const token = await userToken(server, scopes)
    await server.control('DELETE', '/tokens', { token })
    return { token }
  },
  "another client's token": async (server: TestServer, scopes: readonly string[]) => ({
    token: await userToken(server, scopes, { client_id: server.world.other_client.id }),
    headers: { 'Client-Id': server.world.client.id },
  }),
  'an app token': async ({ world }: TestServer) => ({ token: world.client.app_token }),
  'a user token without the scope': async (server: TestServer) => ({
    token: await userToken(server, ['chat:read']),
  }),
  "another user's token": async (server: TestServer, scopes: readonly string[]) => ({
    token: await userToken(server, scopes, { user_id: server.world.offline.id }),
  }),
  'the right token': async (server: TestServer, scopes: readonly string[]) => ({
    token: await userToken(server, scopes),
  }),
} satisfies Record<string, (server: TestServer, scopes: readonly string[]) => Promise<Ask>>
type Credentials = keyof typeof credentials

async function userToken(
  server: TestServer,
  scopes: readonly string[],
  changes: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const { client, broadcaster } = server.world
  const [issued] = await server.control('POST', '/tokens', {
    client_id: client.id,
    user_id: broadcaster.id,
    scopes,
    ...changes,
  })
  return issued.access_token
}

/** What the declared access means for each kind of credentials. */
function expected({ access, id }: Operation, kind: Credentials): Outcome {
  if (access.kind === 'operator') return kind === 'no token' ? 'operator_required' : 'operator_invalid'
  if (kind === 'no token') return access.kind === 'token' ? 'token_missing' : 'in'
  if (kind === "another client's token") return 'client_mismatch'
  if (kind === 'a malformed token' || kind === 'an expired token' || kind === 'a revoked token')
    return 'token_invalid'
  if (kind === "another user's token") return rows[id]?.otherUser ?? 'in'
  if (access.kind !== 'token') return 'in'
  const { anyUser } = rows[id] ?? {}
  if (anyUser !== undefined && kind !== 'an app token') return anyUser
  if (kind === 'the right token') return 'in'
  if (kind === 'an app token') return access.app ? 'in' : 'user_token_required'
  return access.scopes.length === 0 ? 'in' : 'scope_missing'
}

/** Operations that have no credentials of their own prove nothing here. */
const guarded = operations.filter(({ access }) => access.kind !== 'open')

test('every operation of the API family has a row', () => {
  const family = guarded.filter(({ access }) => access.kind !== 'operator').map(({ id }) => id)
  expect(Object.keys(rows).toSorted()).toEqual(family.toSorted())
})

onEachStore('credentials', {}, server => {
  for (const operation of guarded) {
    test(`${operation.id}: ${Object.keys(credentials).length} kinds`, async () => {
      const scopes = operation.access.kind === 'token' ? operation.access.scopes.slice(0, 1) : []
      const row = rows[operation.id]
      for (const [kind, make] of Object.entries(credentials) as [
        Credentials,
        (typeof credentials)[Credentials],
      ][]) {
        const { headers, token } = (await make(server(), scopes)) as Ask
        const answer = await server().call({
          method: operation.method,
          path: operation.path.replaceAll(/\{\w+\}/g, '1'),
          ...(await row?.ask(server())),
          ...(headers && { headers }),
          ...(token !== undefined && { token }),
        })
        const outcome = expected(operation, kind)
        const status = outcome === 'in' ? (operation.status ?? 200) : problems[outcome].status
        expect([kind, answer.status, answer.problem ?? 'in']).toEqual([kind, status, outcome])
        if (kind === "another user's token") row?.showsNothing?.(answer, server())
      }
    })
  }

  test('the operator token opens the control side and nothing else', async () => {
    const token = server().world.operator_token
    expect((await server().call({ path: '/control/users', token })).status).toBe(200)
    for (const operation of guarded) {
      if (operation.access.kind !== 'token') continue
      const { method, path } = operation
      const answer = await server().call({
        method,
        path,
        ...(await rows[operation.id]?.ask(server())),
        token,
      })
      expect([operation.id, answer.problem]).toEqual([operation.id, 'token_invalid'])
    }
  })
})
