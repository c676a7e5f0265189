import { expect } from 'bun:test'
import { deleteVideos } from '../../../src/contract/helix/delete-videos.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { goLive, goOffline, newChannel } from './channels.ts'
import { type Row, withMessage } from './page-rules.ts'
import { newVideo, storedVideo } from './videos.ts'

const newOwner = (server: TestServer) =>
  newChannel(server, ['channel:manage:videos', 'channel:manage:broadcast'])
const remove = (server: TestServer, token: string, id: string | readonly string[]) =>
  send(server, deleteVideos, { token, query: { id } })
const exists = async (server: TestServer, id: string) => (await storedVideo(server, id)) !== undefined

/** The rows of the audit log about a video, newest first. */
const auditOf = async (server: TestServer, id: string): Promise<Row[]> => {
  const token = server.world.operator_token
  const answer = await server.call({ path: '/control/audit', token, query: { subject: `video/${id}` } })
  return answer.body.data
}

const valid = async (server: TestServer) => {
  const owner = await newOwner(server)
  return { token: owner.token, query: { id: await newVideo(server, { user_id: owner.id }) } }
}

describeOperation(deleteVideos, { valid }, ({ ok, fails }) => {
  ok(
    'returns the deleted ids in the order of the request, each once; unknown ones are ignored',
    async server => {
      const { id: user_id, token } = await newOwner(server)
      const [a, b] = [await newVideo(server, { user_id }), await newVideo(server, { user_id })]
      const answer = await remove(server, token, ['999', b, a, b, 'abc'])
      expect([answer.status, answer.body]).toEqual([200, { data: [b, a] }])
      expect([await exists(server, a), await exists(server, b)]).toEqual([false, false])
    },
  )

  ok('nothing is deleted, and nothing recorded, if no id is known', async server => {
    const { token } = await newOwner(server)
    const before = server.world.operator_token
    const count = async () => {
      const query = { operation: 'DeleteVideos', first: 100 }
      const answer = await server.call({ path: '/control/audit', token: before, query })
      return answer.body.data.length
    }
    const recorded = await count()
    expect((await remove(server, token, ['999', 'abc', '007'])).body).toEqual({ data: [] })
    expect(await count()).toBe(recorded)
  })

  ok('five at once, with their markers; each is recorded with the user who deleted it', async server => {
    const { id: user_id, token } = await newOwner(server)
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.push(await newVideo(server, { user_id, title: `Dive ${n}` }))
    expect((await remove(server, token, ids)).body).toEqual({ data: ids })
    for (const [n, id] of ids.entries()) {
      const [row, ...more] = await auditOf(server, id)
      expect(more).toEqual([])
      expect(row).toMatchObject({
        actor: `user/${user_id}`,
        operation: 'DeleteVideos',
        subject: `video/${id}`,
        before: { user_id, title: `Dive ${n}` },
        after: null,
      })
    }
    const markers = { path: '/helix/streams/markers', query: { video_id: ids[0] }, token }
    expect((await server.call(markers)).status).toBe(404)
  })

  ok('the stream of a deleted video continues without one; the next has one again', async server => {
    const { id: user_id, token } = await newOwner(server)
    const id = await newVideo(server, { user_id, isLive: true })
    const mark = () =>
      server.call({ method: 'POST', path: '/helix/streams/markers', token, body: { user_id } })
    expect((await mark()).status).toBe(200)
    expect((await remove(server, token, id)).body).toEqual({ data: [id] })
    expect((await server.call({ path: '/helix/streams', query: { user_id } })).body.data).toHaveLength(1)
    expect((await mark()).status).toBe(404)
    await goOffline(server, user_id)
    await goLive(server, user_id)
    expect((await mark()).status).toBe(200)
  })

  ok('a second time there is nothing left to delete', async server => {
    const { id: user_id, token } = await newOwner(server)
    const id = await newVideo(server, { user_id })
    const answers = await Promise.all([remove(server, token, id), remove(server, token, id)])
    expect(answers.map(answer => answer.body.data.length).toSorted()).toEqual([0, 1])
    expect((await remove(server, token, id)).body).toEqual({ data: [] })
  })

  ok('deletions, ends of streams and edits of one channel at once all succeed', async server => {
    const { id: user_id, token } = await newOwner(server)
    for (let round = 0; round < 8; round++) {
      const id = await newVideo(server, { user_id, isLive: true })
      const [deleted] = await Promise.all([
        remove(server, token, id),
        server.control('PATCH', `/channels/${user_id}`, { title: `Round ${round}` }),
        server.control('DELETE', `/channels/${user_id}/stream`),
      ])
      expect(deleted.body).toEqual({ data: [id] })
      expect(await exists(server, id)).toBe(false)
    }
  })

  ok('first and cursors are ignored, under /mock too', async server => {
    const { id: user_id, token } = await newOwner(server)
    const id = await newVideo(server, { user_id })
    const answer = await send(server, deleteVideos, {
      token,
      query: { id },
      search: 'first=0&after=x&before=y',
      path: '/mock/videos',
    })
    expect([answer.status, answer.body]).toEqual([200, { data: [id] }])
  })

  fails('not_video_owner', 'when one belongs to another user; nothing is deleted', async server => {
    const [owner, other] = [await newOwner(server), await newOwner(server)]
    const own = await newVideo(server, { user_id: owner.id })
    const foreign = await newVideo(server, { user_id: other.id })
    for (const ids of [
      [own, foreign],
      [foreign, own],
      ['999', foreign],
    ]) {
      const answer = await remove(server, owner.token, ids)
      withMessage(answer, 'Only the owner of a video may delete it; nothing was deleted.')
      expect(answer.status).toBe(401)
      expect(answer.headers.has('www-authenticate')).toBe(false)
    }
    expect([await exists(server, own), await exists(server, foreign)]).toEqual([true, true])
    expect([...(await auditOf(server, own)), ...(await auditOf(server, foreign))]).toEqual([])
    return remove(server, owner.token, [own, foreign])
  })

  fails('not_video_owner', 'when the caller is an editor', async server => {
    const [owner, editor] = [await newOwner(server), await newOwner(server)]
    await server.control('PUT', `/channels/${owner.id}/editors/${editor.id}`)
    return remove(server, editor.token, await newVideo(server, { user_id: owner.id }))
  })

  fails('malformed_parameter', 'with six ids; nothing is deleted', async server => {
    const { id: user_id, token } = await newOwner(server)
    const id = await newVideo(server, { user_id })
    const answer = await remove(server, token, [id, id, id, '1', '2', '3'])
    withMessage(answer, 'The parameter "id" was malformed: the value must be less than or equal to 5')
    expect(await exists(server, id)).toBe(true)
    return answer
  })

  fails('missing_parameter', 'when every id is empty', async server => {
    const { token } = await newOwner(server)
    const answer = await send(server, deleteVideos, { token, search: 'id=&id=' })
    return withMessage(answer, 'Missing required parameter "id"')
  })
  fails('malformed_parameter', 'when an id contains U+0000', async server => {
    const { token } = await newOwner(server)
    return remove(server, token, 'a\0b')
  })
})
