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
} from '../../contract/control/channels.ts'
import { raise } from '../../contract/problem.ts'
import { isoMillis, isoSeconds } from '../../kit/clock.ts'
import { decimalId } from '../../kit/id.ts'
import { streamSortKey } from '../../store/queries/streams.ts'
import { idSortKey } from '../../store/queries/world.ts'
import type { Store } from '../../store/store.ts'
import { implement } from '../implement.ts'
import { timestampOf } from '../timestamp.ts'

export const handleGetChannel = implement(getChannel, async ({ params }, { store }) => {
  const channel = (await store.channels.find(params.user_id)) ?? raise('not_found', 'channel', params.user_id)
  return { data: [channel] }
})

export const handlePatchChannel = implement(patchChannel, async ({ params, body }, { store, clock }) => {
  const result = await store.commands.changeChannel({
    ...body,
    user_id: params.user_id,
    game_id: body.game_id === null ? '' : body.game_id,
    video_id: decimalId(clock.now()),
  })
  if (result.outcome === 'absent') return raise('not_found', 'channel', params.user_id)
  if (result.outcome === 'unknown_reference') return raise('unknown_reference', result.kind, result.id)
  return { data: [result.channel] }
})

export const handlePutEditor = implement(putEditor, async ({ params }, { store }) => {
  const result = await store.commands.putEditor(params)
  return result.outcome === 'done' ? undefined : raise('not_found', result.kind, result.id)
})

export const handleDeleteEditor = implement(deleteEditor, async ({ params }, { store }) => {
  const gone = await store.commands.deleteEditor(params)
  return gone ? undefined : raise('not_found', 'editor', params.editor_id)
})

export const handleListEditors = implement(listEditors, async ({ params, window, paginate }, { store }) => {
  const { user_id } = params
  if ((await store.channels.find(user_id)) === undefined) return raise('not_found', 'channel', user_id)
  const page = await store.channels.editors(user_id, window)
  return { data: [...page.rows], pagination: paginate(page, idSortKey) }
})

export const handleStartStream = implement(
  startStream,
  async ({ params, body }, { store, directory, clock }) => {
    const now = clock.now()
    const started = body.started_at === undefined ? now : timestampOf(body.started_at)
    if (started > now) {
      return raise('refused_reference', 'The parameter "started_at" must be a moment that has been.')
    }
    const stream = await store.commands.startStream({
      user_id: params.user_id,
      stream_id: decimalId(now),
      video_id: decimalId(now),
      started_at: isoSeconds(started),
      viewer_count: body.viewer_count,
    })
    if (stream === undefined) return raise('not_found', 'channel', params.user_id)
    return { data: [directory.render(stream)] }
  },
)

export const handleGetStream = implement(getStream, async ({ params }, { store, directory }) => {
  const stream = (await store.streams.of(params.user_id)) ?? (await refuseAsNotLive(store, params.user_id))
  return { data: [directory.render(stream)] }
})

export const handleListStreams = implement(
  listStreams,
  async ({ query, window, paginate }, { store, directory }) => {
    const page = await store.streams.page(query, window)
    const data = page.rows.map(stream => directory.render(stream))
    return { data, pagination: paginate(page, streamSortKey) }
  },
)

export const handleEndStream = implement(endStream, async ({ params }, { store, clock }) => {
  const ended = await store.commands.endStream({ user_id: params.user_id, now: clock.now() })
  return ended ? undefined : refuseAsNotLive(store, params.user_id)
})

/** There is no stream: either the channel is not live, or there is no such channel. */
async function refuseAsNotLive(store: Store, user_id: string): Promise<never> {
  const user = (await store.users.find(user_id)) ?? raise('not_found', 'channel', user_id)
  return raise('not_live', user.login)
}

export const handleRotateStreamKey = implement(
  rotateStreamKey,
  async ({ params, body }, { store, streamKeys, clock }) => {
    const { user_id } = params
    for (;;) {
      const current = (await store.streamKeys.current(user_id)) ?? raise('not_found', 'channel', user_id)
      const version = current.version + 1
      const { key, stored } = streamKeys.mint(user_id, version)
      const valid_until = isoMillis(clock.now() + (body.grace_seconds ?? 0) * 1000)
      const outcome = await store.commands.rotateStreamKey({
        user_id,
        version,
        stream_key: stored,
        valid_until,
      })
      if (outcome === 'done') return { data: [{ stream_key: key }] }
    }
  },
)
