/**
 * Golden answers (D-19): what the operations answer, kept to the letter but for times, ids and secrets. A change
 * here is a change of the wire. After a wanted one: UPDATE_GOLDEN=1 npm test -- test/repo/golden.test.ts
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { type Ask, startTestServer, type TestServer } from '../support/server.ts'

const FILE = 'test/repo/golden.json'
let server: TestServer

beforeAll(async () => {
  server = await startTestServer('sqlite', { streams: 3 })
})
afterAll(() => server.stop())

function asks({ world }: TestServer): Record<string, Ask> {
  const { broadcaster, client, offline } = world
  return {
    'GetDropsEntitlements 200': {
      path: '/helix/entitlements/drops',
      token: client.app_token,
      query: { first: 2 },
    },
    'GetDropsEntitlements 400': {
      path: '/helix/entitlements/drops',
      token: client.app_token,
      query: { first: 101 },
    },
    'GetDropsEntitlements 403': {
      path: '/helix/entitlements/drops',
      token: client.app_token,
      query: { game_id: '1' },
    },
    'UpdateDropsEntitlements 200': {
      method: 'PATCH',
      path: '/helix/entitlements/drops',
      token: client.app_token,
      body: {
        entitlement_ids: ['x', '00000000-0000-4000-8000-000000000000'],
        fulfillment_status: 'FULFILLED',
      },
    },
    'GetStreams 200': { path: '/helix/streams', query: { first: 1 } },
    'GetStreams 400': { path: '/helix/streams', query: { type: 'vodcast' } },
    'GetFollowedStreams 200': {
      path: '/helix/streams/followed',
      token: world.viewer.token,
      query: { user_id: world.viewer.id, first: 1 },
    },
    'GetFollowedStreams 401': { path: '/helix/streams/followed', query: { user_id: '1' } },
    'GetStreamKey 200': {
      path: '/helix/streams/key',
      token: broadcaster.token,
      query: { broadcaster_id: broadcaster.id },
    },
    'GetStreamKey 401': {
      path: '/helix/streams/key',
      token: broadcaster.token,
      query: { broadcaster_id: '1' },
    },
    'CreateStreamMarker 200': {
      method: 'POST',
      path: '/helix/streams/markers',
      token: broadcaster.token,
      body: { user_id: broadcaster.id, description: 'golden' },
    },
    'CreateStreamMarker 404': {
      method: 'POST',
      path: '/helix/streams/markers',
      token: offline.token,
      body: { user_id: offline.id },
    },
    'GetStreamMarkers 200': {
      path: '/helix/streams/markers',
      token: broadcaster.token,
      query: { user_id: broadcaster.id, first: 1 },
    },
    'GetStreamMarkers 400': { path: '/helix/streams/markers', token: broadcaster.token },
    'GetUsers 200': { path: '/helix/users', token: client.app_token, query: { login: broadcaster.login } },
    'GetUsers 400': { path: '/helix/users', token: client.app_token },
    'UpdateUser 200': {
      method: 'PUT',
      path: '/helix/users',
      token: world.viewer.token,
      query: { description: 'golden' },
    },
    'UpdateUser 401': { method: 'PUT', path: '/helix/users', token: client.app_token },
    'GetGames 200': { path: '/helix/games', token: client.app_token, query: { id: world.game.id } },
    'GetGames 400': { path: '/helix/games', token: client.app_token },
    'SearchCategories 200': {
      path: '/helix/search/categories',
      token: client.app_token,
      query: { query: 'e', first: 2 },
    },
    'SearchCategories 400': { path: '/helix/search/categories', token: client.app_token },
    'GetChannelInformation 200': {
      path: '/helix/channels',
      token: client.app_token,
      query: { broadcaster_id: broadcaster.id },
    },
    'GetChannelInformation 400': { path: '/helix/channels', token: client.app_token },
    'ModifyChannelInformation 400': {
      method: 'PATCH',
      path: '/helix/channels',
      token: broadcaster.token,
      query: { broadcaster_id: broadcaster.id },
      body: { game_id: '1' },
    },
    'GetFollowedChannels 200': {
      path: '/helix/channels/followed',
      token: world.viewer.token,
      query: { user_id: world.viewer.id, first: 1 },
    },
    'GetChannelFollowers 200': {
      path: '/helix/channels/followers',
      token: broadcaster.token,
      query: { broadcaster_id: broadcaster.id, first: 1 },
    },
    'GetChannelFollowers 401': {
      path: '/helix/channels/followers',
      token: client.app_token,
      query: { broadcaster_id: broadcaster.id, user_id: '1' },
    },
    'GetChannelEditors 200': {
      path: '/helix/channels/editors',
      token: broadcaster.token,
      query: { broadcaster_id: broadcaster.id },
    },
    'GetTopGames 200': { path: '/helix/games/top', token: client.app_token, query: { first: 2 } },
    'SearchChannels 200': {
      path: '/helix/search/channels',
      token: client.app_token,
      query: { query: broadcaster.login, first: 1 },
    },
    'SearchChannels 400': { path: '/helix/search/channels', token: client.app_token },
    'GetVideos 200': {
      path: '/helix/videos',
      token: client.app_token,
      query: { user_id: broadcaster.id, first: 1 },
    },
    'GetVideos 400': { path: '/helix/videos', token: client.app_token },
    'GetVideos 404': { path: '/helix/videos', token: client.app_token, query: { id: '999' } },
    'DeleteVideos 200': {
      method: 'DELETE',
      path: '/helix/videos',
      token: broadcaster.token,
      query: { id: '999' },
    },
    'operation not offered 404': { path: '/helix/clips' },
    'operation removed 410': { path: '/helix/users/follows' },
    'unknown route 404': { path: '/helix/nothing' },
  }
}

/** Takes out what is different in every world. */
function settled(text: string): unknown {
  return JSON.parse(
    text
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time with milliseconds>')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>')
      .replaceAll(/"cursor":"[\w-]+"/g, '"cursor":"<cursor>"')
      .replaceAll(/localhost:\d+/g, 'localhost:8080')
      .replaceAll(/live_\d+_\w{30}/g, '<STREAM_KEY>')
      .replaceAll(/"id":"[0-9a-f]{32}"/g, '"id":"<32 hex digits>"')
      .replaceAll(/"duration":"[0-9hms]+"/g, '"duration":"<duration>"')
      .replaceAll(/"position_seconds":\d+/g, '"position_seconds":0'),
  )
}

test('the answers are those that were promised', async () => {
  const answers: Record<string, unknown> = {}
  for (const [name, ask] of Object.entries(asks(server))) {
    const answer = await server.call(ask)
    const headers = [...answer.headers.keys()].filter(
      header => !['date', 'content-length', 'connection'].includes(header),
    )
    expect([name, answer.status]).toEqual([name, Number(name.slice(-3))])
    answers[name] = { headers: headers.sort(), body: settled(answer.text) }
  }
  if (process.env.UPDATE_GOLDEN) writeFileSync(FILE, `${JSON.stringify(answers, null, 2)}\n`)
  expect(answers).toEqual(JSON.parse(readFileSync(FILE, 'utf8')))
})
