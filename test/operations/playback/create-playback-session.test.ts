import { expect } from 'bun:test'
import { createPlaybackSession } from '../../../src/contract/playback/create-playback-session.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { latestVideo, naming, nowOf } from '../control/operator.ts'

const create = (server: TestServer, body: object, headers = {}) =>
  send(server, createPlaybackSession, { body, headers })

describeOperation(
  createPlaybackSession,
  { valid: ({ world }) => ({ body: { login: world.broadcaster.login } }) },
  ({ ok, fails }) => {
    ok('answers a session that expires, and how often to send heartbeats', async server => {
      const { login } = server.world.broadcaster
      const { body } = await create(server, { login: login.toUpperCase() })
      const [{ session, expires_at, heartbeat_seconds }] = body.data
      expect(session).toMatch(/^[A-Za-z0-9_-]{50,500}$/)
      expect(heartbeat_seconds).toBe(30)
      const hours = (Date.parse(expires_at) - nowOf(server)) / 3_600_000
      expect(hours).toBeWithin(11.9, 12.1)
      const again = await create(server, { login })
      expect(again.body.data[0].session).not.toBe(session)
    })

    ok('also for a video, and for a channel that is not live', async server => {
      const { broadcaster, offline, users } = server.world
      const video_id = await latestVideo(server, broadcaster.id)
      expect((await create(server, { video_id })).status).toBe(200)
      const login = users.find(user => user.id === offline.id)?.login
      expect((await create(server, { login })).status).toBe(200)
    })

    ok('web pages of other sites may call it without a preflight, as plain text', async server => {
      const { login } = server.world.broadcaster
      const type = { 'Content-Type': 'text/plain', Origin: 'https://player.example' }
      expect((await create(server, { login }, type)).status).toBe(200)
    })

    ok('earns drops with a user token of a client that counts watching, on a live stream', async server => {
      const { client, viewer, broadcaster } = server.world
      const earns = async (body: object, token?: string) => {
        const answer = await send(server, createPlaybackSession, { body, ...(token && { token }) })
        return [answer.status, answer.body.data[0].earns_drops]
      }
      const { login } = broadcaster
      expect(await earns({ login })).toEqual([200, false])
      for (const [counts_watching, expected] of [
        [false, false],
        [true, true],
      ] as const) {
        await server.control('PATCH', `/clients/${client.id}`, { counts_watching })
        expect(await earns({ login }, viewer.token)).toEqual([200, expected])
        expect(await earns({ login }, client.app_token)).toEqual([200, false])
        const video_id = await latestVideo(server, broadcaster.id)
        expect(await earns({ video_id }, viewer.token)).toEqual([200, false])
      }
    })

    fails('not_exactly_one', 'without a login and a video', server => create(server, {}))
    fails('not_exactly_one', 'with a login and a video', server =>
      create(server, { login: 'a', video_id: '1' }),
    )
    fails('name_not_found', 'when there is no such channel', server =>
      naming('nope', create(server, { login: 'nope' })),
    )
    fails('video_not_found', 'when there is no such video', server =>
      naming('999', create(server, { video_id: '999' })),
    )
    for (const login of ['', 'x'.repeat(26), 7, null, ['a']])
      fails('malformed_parameter', `when login is ${JSON.stringify(login)}`, server =>
        create(server, { login }),
      )
  },
)
