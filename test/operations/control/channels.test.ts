import { expect } from 'bun:test'
import {
  deleteEditor,
  endStream,
  getChannel,
  getStream,
  listEditors,
  listStreams,
  patchChannel,
  putEditor,
  rotateStreamKey,
  startStream,
} from '../../../src/contract/control/channels.ts'
import { MAX_EDITORS } from '../../../src/contract/resources/channel.ts'
import { CONTENT_LABELS } from '../../../src/contract/resources/content-label.ts'
import { isoMillis } from '../../../src/kit/time/clock.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import {
  asOperator,
  expectEmpty,
  exported,
  latestVideo,
  naming,
  newUser,
  nowOf,
  shownStream,
  tokenOf,
  walk,
} from './operator.ts'

const at = (user_id: string) => `/control/channels/${user_id}`
const streamAt = (user_id: string) => `${at(user_id)}/stream`
const editorAt = (user_id: string, editor_id: string) => `${at(user_id)}/editors/${editor_id}`
const keyAt = (user_id: string) => `${at(user_id)}/stream-key/rotate`

const get = (server: TestServer, id: string) => send(server, getChannel, asOperator(server, { path: at(id) }))
const patch = (server: TestServer, id: string, body: object) =>
  send(server, patchChannel, asOperator(server, { path: at(id), body }))
const start = (server: TestServer, id: string, body: object = {}) =>
  send(server, startStream, asOperator(server, { path: streamAt(id), body }))
const show = (server: TestServer, id: string) =>
  send(server, getStream, asOperator(server, { path: streamAt(id) }))
const end = (server: TestServer, id: string) =>
  send(server, endStream, asOperator(server, { path: streamAt(id) }))
const addEditor = (server: TestServer, id: string, editor_id: string, body?: object) =>
  send(server, putEditor, asOperator(server, { path: editorAt(id, editor_id), ...(body && { body }) }))
const removeEditor = (server: TestServer, id: string, editor_id: string) =>
  send(server, deleteEditor, asOperator(server, { path: editorAt(id, editor_id) }))
const rotate = (server: TestServer, id: string, body: object = {}) =>
  send(server, rotateStreamKey, asOperator(server, { path: keyAt(id), body }))

async function newLive(server: TestServer): Promise<string> {
  const { id } = await newUser(server)
  await start(server, id)
  return id
}

/** Sets a marker on the channel as this user. */
const mark = async (server: TestServer, user_id: string, as = user_id) =>
  server.call({
    method: 'POST',
    path: '/helix/streams/markers',
    body: { user_id },
    token: await tokenOf(server, as),
  })

/** When the editors of a channel were added, by their ids. */
async function editorTimes(server: TestServer, user_id: string): Promise<Map<string, string>> {
  const editors = (await exported(server, 'editor')).filter(line => line.user_id === user_id)
  return new Map(editors.map(line => [line.editor_id, line.created_at]))
}

/** Makes new users editors of a channel. */
async function addManyEditors(server: TestServer, user_id: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `7${user_id.slice(-9)}${1000 + index}`)
  const lines = [
    ...ids.map((id, index) => ({ type: 'user', id, login: `e${user_id.slice(-12)}_${index}` })),
    ...ids.map(editor_id => ({ type: 'editor', user_id, editor_id })),
  ]
  const rawBody = lines.map(line => JSON.stringify(line)).join('\n')
  const answer = await server.call(asOperator(server, { method: 'POST', path: '/control/import', rawBody }))
  expect(answer.text).toContain('"summary"')
  return ids
}

const ofWorld = (server: TestServer) => asOperator(server, { path: at(server.world.broadcaster.id) })

describeOperation(getChannel, { valid: ofWorld }, ({ ok, fails }) => {
  ok('a new channel has videos on, English, no title and no game', async server => {
    const { id } = await newUser(server)
    const { body } = await get(server, id)
    expect(body).toEqual({
      data: [
        {
          user_id: id,
          title: '',
          game_id: '',
          language: 'en',
          tags: [],
          is_mature: false,
          vod_enabled: true,
          delay: 0,
          content_classification_labels: [],
          is_branded_content: false,
          second_publisher: 'refuse',
        },
      ],
    })
  })

  fails('not_found', 'when the user does not exist', server => naming('999', get(server, '999')))
  fails('not_found', 'when the id is not a number', server => get(server, 'abc'))
})

describeOperation(
  patchChannel,
  {
    valid: async server =>
      asOperator(server, { path: at((await newUser(server)).id), body: { title: 'First light' } }),
  },
  ({ ok, fails }) => {
    ok('changes what is given and keeps the rest', async server => {
      const { id } = await newUser(server)
      const all = {
        title: 'První světlo 🌅',
        game_id: server.world.game.id,
        language: 'cs',
        tags: ['Relaxed', 'Čau'],
        is_mature: true,
        vod_enabled: false,
        delay: 900,
        content_classification_labels: [...CONTENT_LABELS],
        is_branded_content: true,
        second_publisher: 'take_over',
      }
      const full = await patch(server, id, all)
      expect(full.body.data).toEqual([{ user_id: id, ...all }])
      expect((await patch(server, id, {})).body).toEqual(full.body)
      for (const change of [
        { title: '' },
        { tags: [] },
        { is_mature: false },
        { language: 'de' },
        { delay: 0 },
        { content_classification_labels: [] },
        { is_branded_content: false },
        { second_publisher: 'refuse' },
      ]) {
        const { body } = await patch(server, id, change)
        expect(body.data).toEqual([{ ...(await get(server, id)).body.data[0], ...change }])
      }
      const last = {
        ...{ title: '', tags: [], is_mature: false, language: 'de' },
        ...{ delay: 0, content_classification_labels: [], is_branded_content: false },
        second_publisher: 'refuse',
      }
      expect((await get(server, id)).body.data).toEqual([{ user_id: id, ...all, ...last }])
    })

    ok('takes the language "other", and GetStreams filters by it (D-79)', async server => {
      const id = await newLive(server)
      expect((await patch(server, id, { language: 'other' })).body.data[0].language).toBe('other')
      const query = { user_id: id, language: 'other' }
      expect((await server.call({ path: '/helix/streams', query })).body.data).toHaveLength(1)
    })

    ok('labels are listed once each, in a fixed order (D-81)', async server => {
      const { id } = await newUser(server)
      const given = { content_classification_labels: ['ViolentGraphic', 'Gambling', 'ViolentGraphic'] }
      const { body } = await patch(server, id, given)
      expect(body.data[0].content_classification_labels).toEqual(['Gambling', 'ViolentGraphic'])
    })

    ok('tags that differ only in case count once (D-80)', async server => {
      const { id } = await newUser(server)
      const { body } = await patch(server, id, { tags: ['Sea', 'SEA', '深海', 'sea'] })
      expect(body.data[0].tags).toEqual(['Sea', '深海'])
    })

    ok('an empty game_id and null both mean no game', async server => {
      const { id } = await newUser(server)
      for (const game_id of ['', null]) {
        await patch(server, id, { game_id: server.world.game.id })
        expect((await patch(server, id, { game_id })).body.data[0].game_id).toBe('')
      }
    })

    ok('GetStreams shows the change at once', async server => {
      const { game } = server.world
      const id = await newLive(server)
      const change = { title: 'On the reef', language: 'fr', tags: ['Sea'], is_mature: true }
      await patch(server, id, { ...change, game_id: game.id })
      const [{ name }] = await server.control('GET', `/games/${game.id}`)
      const stream = await shownStream(server, id)
      expect(stream).toMatchObject({ ...change, game_id: game.id, game_name: name })
      expect((await show(server, id)).body.data).toEqual([stream])
      const query = { user_id: id, language: 'en' }
      expect((await server.call({ path: '/helix/streams', query })).body.data).toEqual([])
    })

    ok('videos switched off and on again while live', async server => {
      const { id } = await newUser(server)
      await patch(server, id, { vod_enabled: false })
      await start(server, id)
      expect((await mark(server, id)).problem).toBe('vods_off')
      await patch(server, id, { vod_enabled: true })
      expect((await mark(server, id)).status).toBe(200)
    })

    fails('not_found', 'when the user does not exist', server => patch(server, '999', { title: 'x' }))
    fails('unknown_reference', 'when the game does not exist, and changes nothing', async server => {
      const { id } = await newUser(server)
      const answer = naming('998', patch(server, id, { title: 'Lost', game_id: '998' }))
      await answer
      expect((await get(server, id)).body.data[0].title).toBe('')
      return answer
    })
    for (const [title, change] of [
      ['the title has 141 characters', { title: 'x'.repeat(141) }],
      ['the language is three letters', { language: 'eng' }],
      ['the language is in capitals', { language: 'EN' }],
      ['there are 11 tags', { tags: Array(11).fill('Sea') }],
      ['a tag is empty', { tags: [''] }],
      ['a tag has 26 characters', { tags: ['x'.repeat(26)] }],
      ['the game is not a number', { game_id: 'abc' }],
      ['a tag has a space (D-80)', { tags: ['two words'] }],
      ['a tag has a hyphen (D-80)', { tags: ['Sea', 'no-spoilers'] }],
      ['the delay is negative', { delay: -1 }],
      ['the delay is 901', { delay: 901 }],
      ['the delay is a fraction', { delay: 1.5 }],
      ['a label is unknown', { content_classification_labels: ['Boring'] }],
      ['a label follows is_mature (D-81)', { content_classification_labels: ['MatureGame'] }],
      ['the language is another word', { language: 'others' }],
    ] as const) {
      fails('malformed_parameter', `when ${title}`, server =>
        patch(server, server.world.broadcaster.id, change),
      )
    }
    fails('malformed_parameter', 'when a tag has an emoji, named in the message (D-80)', server =>
      naming('Sea🦦', patch(server, server.world.broadcaster.id, { tags: ['Sea', 'Sea🦦'] })),
    )
    fails('malformed_parameter', 'when a tag contains U+0000', server =>
      patch(server, server.world.broadcaster.id, { tags: ['a\0b'] }),
    )
  },
)

describeOperation(
  putEditor,
  {
    valid: server =>
      asOperator(server, { path: editorAt(server.world.broadcaster.id, server.world.viewer.id) }),
  },
  ({ ok, fails }) => {
    ok('the editor may set markers at once; a repeat changes nothing', async server => {
      const [id, { id: editor }] = [await newLive(server), await newUser(server)]
      expect((await mark(server, id, editor)).status).toBe(403)
      for (const _ of [1, 2]) expectEmpty(await addEditor(server, id, editor))
      expect((await mark(server, id, editor)).status).toBe(200)
    })

    ok('the right goes one way only', async server => {
      const [one, other] = [await newLive(server), await newLive(server)]
      expectEmpty(await addEditor(server, one, other))
      expect((await mark(server, other, one)).status).toBe(403)
    })

    ok('takes a time in whole seconds; again without one, it keeps its time (D-94)', async server => {
      const [{ id }, { id: editor }, { id: other }] = [
        await newUser(server),
        await newUser(server),
        await newUser(server),
      ]
      expectEmpty(await addEditor(server, id, editor, { created_at: '2026-01-02T03:04:05.678Z' }))
      expectEmpty(await addEditor(server, id, editor))
      const before = nowOf(server)
      expectEmpty(await addEditor(server, id, other, {}))
      const times = await editorTimes(server, id)
      expect(times.get(editor)).toBe('2026-01-02T03:04:05Z')
      expect(Date.parse(times.get(other) ?? '')).toBeWithin(before - 1000, nowOf(server) + 1)
      expectEmpty(await addEditor(server, id, editor, { created_at: '2026-01-03T00:00:00Z' }))
      expect((await editorTimes(server, id)).get(editor)).toBe('2026-01-03T00:00:00Z')
    })

    fails('in_use', 'when the channel has 1,000 editors (D-85)', async server => {
      const { id } = await newUser(server)
      const [first = ''] = await addManyEditors(server, id, MAX_EDITORS)
      const { id: one } = await newUser(server)
      const answer = await addEditor(server, id, one)
      expect(answer.body.message).toBe('The channel has 1,000 editors already; remove one first.')
      expectEmpty(await addEditor(server, id, first, { created_at: '2026-01-02T03:04:05Z' }))
      expectEmpty(await removeEditor(server, id, first))
      const together = await Promise.all([addEditor(server, id, one), addEditor(server, id, first)])
      expect(together.map(({ status }) => status).sort()).toEqual([204, 409])
      return answer
    })
    fails('refused_reference', 'when the time is in the future, and adds nothing', async server => {
      const [{ id }, { id: editor }] = [await newUser(server), await newUser(server)]
      const created_at = new Date(nowOf(server) + 60_000).toISOString()
      const answer = await naming('created_at', addEditor(server, id, editor, { created_at }))
      expect((await editorTimes(server, id)).size).toBe(0)
      return answer
    })
    fails('not_found', 'when the channel does not exist', server =>
      naming('999', addEditor(server, '999', server.world.viewer.id)),
    )
    fails('not_found', 'when the editor does not exist', server =>
      naming('998', addEditor(server, server.world.broadcaster.id, '998')),
    )
  },
)

describeOperation(
  deleteEditor,
  {
    valid: async server => {
      const { broadcaster, viewer } = server.world
      await addEditor(server, broadcaster.id, viewer.id)
      return asOperator(server, { path: editorAt(broadcaster.id, viewer.id) })
    },
  },
  ({ ok, fails }) => {
    ok('the editor may not set markers any more, at once', async server => {
      const [id, { id: editor }] = [await newLive(server), await newUser(server)]
      await addEditor(server, id, editor)
      expect((await mark(server, id, editor)).status).toBe(200)
      expectEmpty(await removeEditor(server, id, editor))
      expect((await mark(server, id, editor)).status).toBe(403)
    })

    fails('not_found', 'when the user is no editor', server =>
      removeEditor(server, server.world.offline.id, server.world.viewer.id),
    )
    fails('not_found', 'when the channel does not exist', server =>
      removeEditor(server, '999', server.world.viewer.id),
    )
  },
)

describeOperation(
  startStream,
  { valid: async server => asOperator(server, { path: streamAt((await newUser(server)).id), body: {} }) },
  ({ ok, fails }) => {
    ok('goes live now, without viewers, and GetStreams shows it at once', async server => {
      const user = await newUser(server, { display_name: 'Shown Name' })
      const before = nowOf(server)
      const { body } = await start(server, user.id)
      const [stream] = body.data
      expect(stream).toMatchObject({
        user_id: user.id,
        user_login: user.login,
        user_name: 'Shown Name',
        game_id: '',
        game_name: '',
        type: 'live',
        title: '',
        viewer_count: 0,
        language: 'en',
        tags: [],
        is_mature: false,
      })
      expect(Object.keys(stream)).toHaveLength(15)
      expect(stream.id).toMatch(/^[1-9][0-9]*$/)
      expect(stream.started_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      expect(Date.parse(stream.started_at)).toBeWithin(before - 1000, nowOf(server) + 1)
      expect(await shownStream(server, user.id)).toEqual(stream)
    })

    ok('takes a start in the past, in whole seconds, and a viewer count', async server => {
      const { id } = await newUser(server)
      const given = { started_at: '2026-01-02T03:04:05.678Z', viewer_count: 12 }
      const { body } = await start(server, id, given)
      expect(body.data[0]).toMatchObject({ started_at: '2026-01-02T03:04:05Z', viewer_count: 12 })
    })

    ok('while live the same stream continues, with the same video', async server => {
      const { id } = await newUser(server)
      const first = (await start(server, id, { viewer_count: 3 })).body.data[0]
      const video = await latestVideo(server, id)
      expect((await start(server, id)).body.data[0]).toEqual(first)
      expect((await start(server, id, { started_at: '2026-01-02T03:04:05Z' })).body.data[0]).toEqual(first)
      const counted = await start(server, id, { viewer_count: 9 })
      expect(counted.body.data[0]).toEqual({ ...first, viewer_count: 9 })
      expect(await shownStream(server, id)).toEqual({ ...first, viewer_count: 9 })
      expect(await latestVideo(server, id)).toBe(video)
    })

    ok('several at once make one stream', async server => {
      const { id } = await newUser(server)
      const answers = await Promise.all([1, 2, 3, 4].map(() => start(server, id)))
      expect(new Set(answers.map(answer => answer.body.data[0].id)).size).toBe(1)
    })

    ok('ended and started again, it is a new stream with a new video', async server => {
      const { id } = await newUser(server)
      const first = (await start(server, id)).body.data[0]
      const video = await latestVideo(server, id)
      await end(server, id)
      const second = (await start(server, id)).body.data[0]
      expect(second.id).not.toBe(first.id)
      expect(await latestVideo(server, id)).not.toBe(video)
      expect((await shownStream(server, id)).id).toBe(second.id)
    })

    ok('a channel without videos goes live without one', async server => {
      const { id } = await newUser(server)
      await patch(server, id, { vod_enabled: false })
      expect((await start(server, id)).status).toBe(200)
      expect(await latestVideo(server, id)).toBeUndefined()
    })

    ok('needs no body', async server => {
      const { id } = await newUser(server)
      expect((await send(server, startStream, asOperator(server, { path: streamAt(id) }))).status).toBe(200)
    })

    fails('not_found', 'when the user does not exist', server => naming('999', start(server, '999')))
    fails('user_suspended', 'when the user is suspended', async server => {
      const user = await newUser(server)
      await server.control('PUT', `/users/${user.id}/suspension`, {})
      return naming(user.login, start(server, user.id))
    })
    fails('refused_reference', 'when it would start in the future', async server => {
      const { id } = await newUser(server)
      const started_at = new Date(nowOf(server) + 60_000).toISOString()
      const answer = await start(server, id, { started_at })
      expect(await shownStream(server, id)).toBeUndefined()
      return answer
    })
    fails('refused_reference', 'when there is no such day', async server =>
      start(server, (await newUser(server)).id, { started_at: '2026-02-30T12:00:00Z' }),
    )
    for (const [title, body] of [
      ['started_at has an offset', { started_at: '2026-01-02T03:04:05+01:00' }],
      ['started_at is a day', { started_at: '2026-01-02' }],
      ['viewer_count is negative', { viewer_count: -1 }],
      ['viewer_count is a fraction', { viewer_count: 1.5 }],
    ] as const) {
      fails('malformed_parameter', `when ${title}`, async server =>
        start(server, (await newUser(server)).id, body),
      )
    }
  },
)

describeOperation(
  getStream,
  { valid: server => asOperator(server, { path: streamAt(server.world.broadcaster.id) }) },
  ({ ok, fails }) => {
    ok('shows the stream as GetStreams does', async server => {
      const { broadcaster } = server.world
      const { body } = await show(server, broadcaster.id)
      expect(body).toEqual({ data: [await shownStream(server, broadcaster.id)] })
    })

    fails('not_live', 'when the channel is not live', async server => {
      const { id, login } = await newUser(server)
      const answer = await show(server, id)
      expect(answer.body.message).toBe(`The channel ${login} is not live.`)
      return answer
    })
    fails('not_found', 'when the user does not exist', server => naming('999', show(server, '999')))
  },
)

describeOperation(
  endStream,
  { valid: async server => asOperator(server, { path: streamAt(await newLive(server)) }) },
  ({ ok, fails }) => {
    ok('the stream is gone from GetStreams at once', async server => {
      const id = await newLive(server)
      expectEmpty(await end(server, id))
      expect(await shownStream(server, id)).toBeUndefined()
      expect((await show(server, id)).status).toBe(404)
    })

    ok('its video stays, with its markers', async server => {
      const id = await newLive(server)
      await mark(server, id)
      const video_id = await latestVideo(server, id)
      expectEmpty(await end(server, id))
      expect(await latestVideo(server, id)).toBe(video_id)
      expect((await mark(server, id)).problem).toBe('not_live')
    })

    fails('not_live', 'when the channel is not live', server => end(server, server.world.offline.id))
    fails('not_live', 'the second time', async server => {
      const id = await newLive(server)
      await end(server, id)
      return end(server, id)
    })
    fails('not_found', 'when the user does not exist', server => end(server, '999'))
  },
)

/** The key as the broadcaster reads it. */
async function readKey(server: TestServer, broadcaster_id: string): Promise<string> {
  const token = await tokenOf(server, broadcaster_id)
  const answer = await server.call({ path: '/helix/streams/key', query: { broadcaster_id }, token })
  return answer.body.data[0].stream_key
}

describeOperation(
  rotateStreamKey,
  { valid: async server => asOperator(server, { path: keyAt((await newUser(server)).id), body: {} }) },
  ({ ok, fails }) => {
    ok('the broadcaster reads the new key at once', async server => {
      const { id } = await newUser(server)
      const old = await readKey(server, id)
      const { body } = await rotate(server, id, { grace_seconds: 60 })
      expect(body).toEqual({ data: [{ stream_key: await readKey(server, id) }] })
      const [{ stream_key }] = body.data
      expect(stream_key).toMatch(new RegExp(`^live_${id}_[A-Za-z0-9]{30}$`))
      expect(stream_key).not.toBe(old)
    })

    ok('a running broadcast is not cut', async server => {
      const id = await newLive(server)
      const stream = await shownStream(server, id)
      expect((await rotate(server, id)).status).toBe(200)
      expect(await shownStream(server, id)).toEqual(stream)
    })

    ok('the old key is kept for the grace and not longer', async server => {
      // What upkeep removes shows how long one is kept.
      const { clock, store } = server.strand.services
      const { commands } = store
      const now = clock.now()
      await commands.sweep({ now, settled: now + 120_000 })
      expect(await commands.sweep({ now, settled: now + 120_000 })).toBe(0)
      const { id } = await newUser(server)
      await rotate(server, id, { grace_seconds: 60 })
      expect(await commands.sweep({ now, settled: now + 59_000 })).toBe(0)
      expect(await commands.sweep({ now, settled: clock.now() + 61_000 })).toBe(1)
      await rotate(server, id)
      expect(await commands.sweep({ now, settled: clock.now() + 1000 })).toBe(1)
      expect(await readKey(server, id)).toStartWith(`live_${id}_`)
    })

    ok('no earlier key stays valid for longer than the last grace', async server => {
      const { clock, store, streamKeys } = server.strand.services
      const { id } = await newUser(server)
      const first = await readKey(server, id)
      const opens = async (key: string) =>
        (await store.streamKeys.channelOf(streamKeys.lookupHashes(key), isoMillis(clock.now()))) !== undefined
      await rotate(server, id, { grace_seconds: 3600 })
      const second = await readKey(server, id)
      expect([await opens(first), await opens(second)]).toEqual([true, true])
      await rotate(server, id)
      const third = await readKey(server, id)
      expect([await opens(first), await opens(second), await opens(third)]).toEqual([false, false, true])
    })

    ok('several at once give as many keys, and the last one holds', async server => {
      const { id } = await newUser(server)
      const answers = await Promise.all([1, 2, 3, 4].map(() => rotate(server, id)))
      const keys = answers.map(answer => answer.body.data[0].stream_key)
      expect(new Set(keys).size).toBe(4)
      expect(keys).toContain(await readKey(server, id))
    })

    ok('keys are nowhere in the log', async server => {
      const { id } = await newUser(server)
      const [{ stream_key }] = (await rotate(server, id)).body.data
      await readKey(server, id)
      expect(server.logLines.filter(line => line.includes(stream_key))).toEqual([])
    })

    ok('needs no body', async server => {
      const { id } = await newUser(server)
      const answer = await send(server, rotateStreamKey, asOperator(server, { path: keyAt(id) }))
      expect(answer.status).toBe(200)
    })

    fails('not_found', 'when the user does not exist', server => naming('999', rotate(server, '999')))
    for (const grace_seconds of [-1, 604_801, 0.5]) {
      fails('malformed_parameter', `when grace_seconds is ${grace_seconds}`, server =>
        rotate(server, server.world.broadcaster.id, { grace_seconds }),
      )
    }
  },
)

describeOperation(
  listEditors,
  { valid: server => asOperator(server, { path: `${at(server.world.broadcaster.id)}/editors` }) },
  ({ ok, fails }) => {
    const editors = (server: TestServer, id: string) =>
      send(server, listEditors, asOperator(server, { path: `${at(id)}/editors` }))

    ok('lists the editors of the channel, page by page, and no other user', async server => {
      const { id } = await newUser(server)
      expect((await editors(server, id)).body).toEqual({ data: [], pagination: {} })
      const users = [await newUser(server), await newUser(server), await newUser(server)]
      for (const user of users) await addEditor(server, id, user.id)
      await addEditor(server, users[0].id, id)
      const expected = users.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      expect((await editors(server, id)).body.data).toEqual(expected)
      expect(await walk(server, `${at(id)}/editors`, { first: 2 })).toEqual(expected)
    })

    fails('not_found', 'when the channel does not exist', server => naming('999', editors(server, '999')))
  },
)

describeOperation(listStreams, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  const PATH = '/control/streams'

  ok('lists what runs by viewers, page by page, every stream once', async server => {
    const offline = await newUser(server)
    const id = await newLive(server)
    const all = await walk(server, PATH, { first: 100 })
    const channels = all.map(stream => stream.user_id)
    const counts = all.map(stream => Number(stream.viewer_count))
    expect(new Set(counts).size).toBeGreaterThan(5)
    expect(counts).toEqual(counts.toSorted((a, b) => b - a))
    expect(new Set(channels).size).toBe(channels.length)
    expect(channels).toContain(id)
    expect(channels).not.toContain(offline.id)
    expect(all.find(stream => stream.user_id === id)).toEqual((await show(server, id)).body.data[0])
    expect(await walk(server, PATH, { first: 5 })).toEqual(all)
    await end(server, id)
    expect((await walk(server, PATH)).map(stream => stream.user_id)).not.toContain(id)
  })

  ok('filters by game', async server => {
    const [game] = await server.control('POST', '/games', { name: 'Seldom played' })
    const id = await newLive(server)
    await patch(server, id, { game_id: game.id })
    const { body } = await send(server, listStreams, asOperator(server, { query: { game_id: game.id } }))
    expect(body.data).toEqual((await show(server, id)).body.data)
    const none = await send(server, listStreams, asOperator(server, { query: { game_id: 'abc' } }))
    expect(none.body).toEqual({ data: [], pagination: {} })
  })

  fails('malformed_parameter', 'when first is 0', server =>
    send(server, listStreams, asOperator(server, { query: { first: 0 } })),
  )
})
