import { expect } from 'bun:test'
import { getStreamMarkers } from '../../../src/contract/helix/get-stream-markers.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'

const ask = (server: TestServer, changes: Ask = {}) => send(server, getStreamMarkers, changes)
const valid = ({ world }: TestServer): Ask => ({
  token: world.broadcaster.token,
  query: { user_id: world.broadcaster.id },
})
// biome-ignore lint/suspicious/noExplicitAny: markers as they came over the wire
const markersOf = (answer: { body: any }): any[] => answer.body.data[0].videos[0].markers

describeOperation(getStreamMarkers, { valid }, ({ ok, fails }) => {
  ok('lists one group, one video, markers by position, with url and URL', async server => {
    const { broadcaster } = server.world
    const answer = await ask(server, { ...valid(server), query: { user_id: broadcaster.id, first: 100 } })
    const [group, ...rest] = answer.body.data
    expect(rest).toEqual([])
    expect(Object.keys(group)).toEqual(['user_id', 'user_login', 'user_name', 'videos'])
    expect([group.user_id, group.user_login]).toEqual([broadcaster.id, broadcaster.login])
    expect(group.videos).toHaveLength(1)
    const markers = markersOf(answer)
    expect(markers).toHaveLength(25)
    expect(markers.map(marker => marker.position_seconds)).toEqual(
      markers.map(marker => marker.position_seconds).toSorted((a, b) => a - b),
    )
    for (const marker of markers) {
      expect(Object.keys(marker)).toEqual([
        'id',
        'created_at',
        'description',
        'position_seconds',
        'url',
        'URL',
      ])
      expect(marker.id).toMatch(/^[0-9a-f]{32}$/)
      expect(marker.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      expect(marker.URL).toBe(marker.url)
    }
    expect(markers[0].url).toBe(`${server.url}/videos/${group.videos[0].video_id}?t=0h0m10s`)
    expect(answer.body.pagination).toEqual({})
  })

  ok('pages forward and back count markers, 20 without first', async server => {
    const all = markersOf(await ask(server, { ...valid(server), search: 'first=100' })).map(
      marker => marker.id,
    )
    const first = await ask(server, valid(server))
    expect(markersOf(first).map(marker => marker.id)).toEqual(all.slice(0, 20))
    const { cursor } = first.body.pagination
    const second = await ask(server, { ...valid(server), search: `after=${cursor}&first=3` })
    expect(markersOf(second).map(marker => marker.id)).toEqual(all.slice(20, 23))
    const back = await ask(server, {
      ...valid(server),
      search: `before=${second.body.pagination.cursor}&first=4`,
    })
    expect(markersOf(back).map(marker => marker.id)).toEqual(all.slice(16, 20))
    const start = await ask(server, {
      ...valid(server),
      search: `before=${back.body.pagination.cursor}&first=100`,
    })
    expect(markersOf(start).map(marker => marker.id)).toEqual(all.slice(0, 16))
    expect(start.body.pagination).toEqual({})
  })

  ok('an editor may list, with either scope', async server => {
    const { client, editor, broadcaster } = server.world
    for (const scope of ['user:read:broadcast', 'channel:manage:broadcast']) {
      const [{ access_token }] = await server.control('POST', '/tokens', {
        client_id: client.id,
        user_id: editor.id,
        scopes: [scope],
      })
      const answer = await ask(server, { token: access_token, query: { user_id: broadcaster.id } })
      expect(answer.status).toBe(200)
    }
  })

  ok(
    'by video_id, an older video can be listed; a walk by user_id stays with the video it began on',
    async server => {
      const [user] = await server.control('POST', '/users', { login: `walker_${server.engine}` })
      const [{ access_token: token }] = await server.control('POST', '/tokens', {
        client_id: server.world.client.id,
        user_id: user.id,
        scopes: ['channel:manage:broadcast'],
      })
      const mark = (description: string) =>
        server.call({
          method: 'POST',
          path: '/helix/streams/markers',
          token,
          body: { user_id: user.id, description },
        })
      await server.control('PUT', `/channels/${user.id}/stream`, {})
      for (const name of ['one', 'two', 'three']) await mark(name)
      const page = await ask(server, { token, query: { user_id: user.id, first: 1 } })
      const [{ video_id }] = page.body.data[0].videos
      await server.control('DELETE', `/channels/${user.id}/stream`)
      await server.control('PUT', `/channels/${user.id}/stream`, {})

      const empty = await ask(server, { token, query: { user_id: user.id } })
      expect(empty.body.data[0].videos[0].video_id).not.toBe(video_id)
      expect(empty.body.data[0].videos[0].markers).toEqual([])
      expect(empty.body.pagination).toEqual({})
      const next = await ask(server, {
        token,
        query: { user_id: user.id, after: page.body.pagination.cursor },
      })
      expect(next.body.data[0].videos[0].video_id).toBe(video_id)
      expect(markersOf(next)).toHaveLength(2)
      const older = await ask(server, { token, query: { video_id } })
      expect(markersOf(older)).toHaveLength(3)
    },
  )

  fails('not_exactly_one', 'without user_id and video_id', server =>
    ask(server, { ...valid(server), query: {} }),
  )
  fails('not_exactly_one', 'with both', server =>
    ask(server, { ...valid(server), query: { user_id: '1', video_id: '2' } }),
  )
  fails('malformed_parameter', 'when first is 0', server =>
    ask(server, { ...valid(server), search: 'first=0' }),
  )
  fails('malformed_parameter', 'when first is 101', server =>
    ask(server, { ...valid(server), search: 'first=101' }),
  )
  fails('no_videos', 'when the user never streamed', server =>
    ask(server, { token: server.world.offline.token, query: { user_id: server.world.offline.id } }),
  )
  fails('no_videos', 'when the user does not exist', server =>
    ask(server, { ...valid(server), query: { user_id: '999' } }),
  )
  fails('video_not_found', 'when the video does not exist', server =>
    ask(server, { ...valid(server), query: { video_id: '999' } }),
  )
  fails('video_not_found', 'when the id is not a number', server =>
    ask(server, { ...valid(server), query: { video_id: 'abc' } }),
  )
  fails('channel_forbidden', 'when the caller is neither broadcaster nor editor', server =>
    ask(server, { ...valid(server), token: server.world.viewer.token }),
  )
  fails('channel_forbidden', 'existence is checked before ownership, by video_id too', async server => {
    const listing = await ask(server, valid(server))
    const [{ video_id }] = listing.body.data[0].videos
    return ask(server, { token: server.world.viewer.token, query: { video_id } })
  })
  fails('invalid_cursor', 'when the cursor belongs to another list', async server => {
    const page = await ask(server, valid(server))
    const { video_id } = page.body.data[0].videos[0]
    return ask(server, { ...valid(server), query: { video_id, after: page.body.pagination.cursor } })
  })
})
