import { expect } from 'bun:test'
import { deleteVideo, getVideo, listVideos, patchVideo } from '../../../src/contract/control/videos.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { asOperator, expectEmpty, naming, newUser, nowOf, tokenOf, walk } from './operator.ts'

const PATH = '/control/videos'

const list = (server: TestServer, query: NonNullable<Ask['query']>) =>
  send(server, listVideos, asOperator(server, { query }))
const remove = (server: TestServer, id: string) =>
  send(server, deleteVideo, asOperator(server, { path: `${PATH}/${id}` }))

const goLive = (server: TestServer, user_id: string, body: object = {}) =>
  server.control('PUT', `/channels/${user_id}/stream`, body)
const goOffline = (server: TestServer, user_id: string) =>
  server.control('DELETE', `/channels/${user_id}/stream`)

/** Sets a marker on the own channel. */
const mark = async (server: TestServer, user_id: string) =>
  server.call({
    method: 'POST',
    path: '/helix/streams/markers',
    body: { user_id },
    token: await tokenOf(server, user_id),
  })

/** A user who is live, and the video. */
async function newLive(server: TestServer, body: object = {}) {
  const user = await newUser(server)
  const [stream] = await goLive(server, user.id, body)
  const [video] = (await list(server, { user_id: user.id })).body.data
  return { user, stream, video }
}

describeOperation(listVideos, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  ok('a running stream has a video that is live and grows; when it ends, so does the video', async server => {
    const started_at = new Date(nowOf(server) - 100_000).toISOString()
    const { user, video, stream } = await newLive(server, { started_at })
    const [channel] = await server.control('GET', `/channels/${user.id}`)
    expect(video).toEqual({
      id: expect.stringMatching(/^[1-9][0-9]*$/),
      user_id: user.id,
      user_login: user.login,
      user_name: user.display_name,
      stream_id: stream.id,
      title: channel.title,
      description: '',
      language: channel.language,
      game_id: '',
      view_count: 0,
      created_at: `${started_at.slice(0, 19)}Z`,
      ended_at: null,
      duration_seconds: expect.any(Number),
      is_live: true,
      marker_count: 0,
    })
    expect(video.duration_seconds).toBeWithin(100, 110)
    for (const _ of [1, 2]) expect((await mark(server, user.id)).status).toBe(200)
    await server.control('POST', '/clock', { advance_seconds: 50 })
    await goOffline(server, user.id)
    const [ended] = (await list(server, { user_id: user.id })).body.data
    const { ended_at, duration_seconds } = ended
    expect(ended).toEqual({ ...video, ended_at, duration_seconds, is_live: false, marker_count: 2 })
    expect(duration_seconds).toBe((Date.parse(ended_at) - Date.parse(video.created_at)) / 1000)
    expect(duration_seconds).toBeWithin(150, 165)
  })

  ok('pages to the end, newest first, every video once', async server => {
    const { user } = await newLive(server)
    for (let count = 0; count < 4; count++) {
      await goOffline(server, user.id)
      await server.control('POST', '/clock', { advance_seconds: 2 })
      await goLive(server, user.id)
    }
    const all = await walk(server, PATH, { first: 100 })
    const keys = all.map(video => `${video.created_at} ${video.id}`)
    expect(keys).toEqual([...new Set(keys)].sort().reverse())
    const steady = (videos: typeof all) => videos.map(({ duration_seconds: _, ...video }) => video)
    expect(steady(await walk(server, PATH, { first: 3 }))).toEqual(steady(all))
    const own = await walk(server, PATH, { user_id: user.id, first: 2 })
    expect(own).toHaveLength(5)
    expect(own.map(video => video.is_live)).toEqual([true, false, false, false, false])
    expect(steady(own)).toEqual(steady(all.filter(video => video.user_id === user.id)))
  })

  ok(
    'a channel that keeps no videos has none, and a filter that names nothing matches nothing',
    async server => {
      const { id } = await newUser(server)
      await server.control('PATCH', `/channels/${id}`, { vod_enabled: false })
      await goLive(server, id)
      for (const user_id of [id, '999', 'abc']) {
        expect((await list(server, { user_id })).body).toEqual({ data: [], pagination: {} })
      }
    },
  )

  fails('malformed_parameter', 'when first is 0', server => list(server, { first: 0 }))
  fails('invalid_cursor', 'when the filter changes within a walk', async server => {
    const start = await list(server, { first: 1 })
    return list(server, { after: start.body.pagination.cursor, user_id: server.world.broadcaster.id })
  })
})

describeOperation(
  deleteVideo,
  {
    valid: async server => asOperator(server, { path: `${PATH}/${(await newLive(server)).video.id}` }),
  },
  ({ ok, fails }) => {
    ok('the video is gone with its markers', async server => {
      const { user, video } = await newLive(server)
      await mark(server, user.id)
      await goOffline(server, user.id)
      expectEmpty(await remove(server, video.id))
      expect((await list(server, { user_id: user.id })).body.data).toEqual([])
      const token = await tokenOf(server, user.id)
      const markers = { path: '/helix/streams/markers', token }
      expect((await server.call({ ...markers, query: { video_id: video.id } })).status).toBe(404)
      expect((await server.call({ ...markers, query: { user_id: user.id } })).status).toBe(404)
    })

    ok('a running stream continues without one, and its next stream has one again', async server => {
      const { user, video } = await newLive(server)
      const [before] = await server.control('GET', `/channels/${user.id}/stream`)
      expectEmpty(await remove(server, video.id))
      expect(await server.control('GET', `/channels/${user.id}/stream`)).toEqual([before])
      expect((await mark(server, user.id)).status).toBe(404)
      await goOffline(server, user.id)
      await goLive(server, user.id)
      expect((await mark(server, user.id)).status).toBe(200)
      expect((await list(server, { user_id: user.id })).body.data).toHaveLength(1)
    })

    fails('not_found', 'when it does not exist', server => naming('999', remove(server, '999')))
    fails('not_found', 'the second time', async server => {
      const { video } = await newLive(server)
      await remove(server, video.id)
      return remove(server, video.id)
    })
  },
)

describeOperation(
  getVideo,
  { valid: async server => asOperator(server, { path: `${PATH}/${(await newLive(server)).video.id}` }) },
  ({ ok, fails }) => {
    const show = (server: TestServer, id: string) =>
      send(server, getVideo, asOperator(server, { path: `${PATH}/${id}` }))

    ok('shows what the list shows, while the stream runs and afterwards', async server => {
      const { user } = await newLive(server)
      for (const change of [() => mark(server, user.id), () => goOffline(server, user.id)]) {
        await change()
        const [{ duration_seconds: _, ...listed }] = (await list(server, { user_id: user.id })).body.data
        const [{ duration_seconds, ...shown }] = (await show(server, listed.id)).body.data
        expect(shown).toEqual(listed)
        expect(duration_seconds).toBeWithin(0, 60)
      }
    })

    fails('not_found', 'when it does not exist', server => naming('1', show(server, '1')))
  },
)

describeOperation(
  patchVideo,
  {
    valid: async server =>
      asOperator(server, {
        path: `${PATH}/${(await newLive(server)).video.id}`,
        body: { description: 'Night dive', view_count: 12 },
      }),
  },
  ({ ok, fails }) => {
    const edit = (server: TestServer, id: string, body: object) =>
      send(server, patchVideo, asOperator(server, { path: `${PATH}/${id}`, body }))
    const recordsOf = async (server: TestServer, id: string) =>
      (await server.call(asOperator(server, { path: '/control/audit', query: { subject: `video/${id}` } })))
        .body.data

    ok('changes what is given and keeps the rest; clients see it at once', async server => {
      const { user, video } = await newLive(server)
      await goOffline(server, user.id)
      const [before] = (await list(server, { user_id: user.id })).body.data
      const changes = { title: 'Night dive', description: 'Part two', view_count: 1200 }
      let expected = before
      for (const change of Object.entries(changes).map(([name, value]) => ({ [name]: value }))) {
        expected = { ...expected, ...change }
        const answer = await edit(server, video.id, change)
        expect([answer.status, answer.body]).toEqual([200, { data: [expected] }])
      }
      const { app_token: token } = server.world.client
      const shown = await server.call({ path: '/helix/videos', query: { id: video.id }, token })
      expect(shown.body.data[0]).toMatchObject(changes)
      expect((await edit(server, video.id, { title: '', description: '' })).body.data[0]).toMatchObject({
        title: '',
        description: '',
        view_count: 1200,
      })
    })

    ok('description and view count change while the stream is live', async server => {
      const { video } = await newLive(server)
      const answer = await edit(server, video.id, { description: 'Live now', view_count: 2_000_000_000 })
      expect(answer.body.data[0]).toMatchObject({ description: 'Live now', view_count: 2_000_000_000 })
    })

    ok('a change is recorded, and a call that changes nothing is not', async server => {
      const { video } = await newLive(server)
      const body = { view_count: 7 }
      for (const _ of [1, 2]) expect((await edit(server, video.id, body)).status).toBe(200)
      expect((await edit(server, video.id, {})).status).toBe(200)
      const [row, ...more] = await recordsOf(server, video.id)
      expect(more).toEqual([])
      expect(row).toMatchObject({
        actor: 'operator',
        operation: 'PatchVideo',
        before: { view_count: 0 },
        after: { view_count: 7 },
      })
    })

    fails('in_use', 'when the title is given while the stream is live; nothing is changed', async server => {
      const { video } = await newLive(server)
      const answer = await edit(server, video.id, { title: 'Other', view_count: 5 })
      const [after] = await server.control('GET', `/videos/${video.id}`)
      expect([after.title, after.view_count]).toEqual([video.title, 0])
      expect(await recordsOf(server, video.id)).toEqual([])
      return answer
    })
    fails('malformed_parameter', 'when the title has 141 characters', async server => {
      const { video } = await newLive(server)
      await goOffline(server, video.user_id)
      expect((await edit(server, video.id, { title: '\u{1F419}'.repeat(140) })).status).toBe(200)
      return edit(server, video.id, { title: 'x'.repeat(141) })
    })
    fails('malformed_parameter', 'when the description has 301 characters', async server =>
      edit(server, (await newLive(server)).video.id, { description: 'x'.repeat(301) }),
    )
    for (const view_count of [-1, 1.5, '3', 2_000_000_001]) {
      fails('malformed_parameter', `when the view count is ${JSON.stringify(view_count)}`, async server =>
        edit(server, (await newLive(server)).video.id, { view_count }),
      )
    }
    fails('not_found', 'when it does not exist', server => naming('1', edit(server, '1', { title: 'x' })))
  },
)
