import {
  deleteEditor,
  endStream,
  getChannel,
  getStream,
  kickPublisher,
  listEditors,
  listStreams,
  patchChannel,
  putEditor,
  rotateStreamKey,
  startStream,
} from '../../contract/control/channels.ts'
import { isRefusal, refuse } from '../../contract/problem.ts'
import { rankKey } from '../../directory/stream-page.ts'
import { decimalId } from '../../kit/id.ts'
import { isoSeconds } from '../../kit/time/clock.ts'
import { idSortKey } from '../../store/keyset-order.ts'
import { answerOne, answerPage, implement, rawJsonPage } from '../implement.ts'
import { replaceStreamKey } from '../replace-stream-key.ts'
import { parsePastSecond } from '../timestamp.ts'
import { cutAlongWalk } from '../walk.ts'

export const handleGetChannel = implement(getChannel, async ({ params: { user_id } }, { store }) =>
  answerOne((await store.channels.find(user_id)) ?? refuse('not_found', 'channel', user_id)),
)

export const handlePatchChannel = implement(patchChannel, async ({ params, body }, { store, clock }) =>
  answerOne(
    await store.commands.changeChannel({
      ...body,
      user_id: params.user_id,
      game_id: body.game_id === null ? '' : body.game_id,
      video_id: decimalId(clock.now()),
    }),
  ),
)

export const handlePutEditor = implement(putEditor, ({ params, body }, { store, clock }) => {
  const now = clock.now()
  const created_at = parsePastSecond('created_at', body.created_at, now)
  return store.commands.putEditor({ ...params, created_at, now })
})

export const handleDeleteEditor = implement(deleteEditor, ({ params }, { store }) =>
  store.commands.deleteEditor(params),
)

export const handleListEditors = implement(listEditors, async ({ params, window, paginate }, { store }) => {
  const { user_id } = params
  if ((await store.channels.find(user_id)) === undefined) return refuse('not_found', 'channel', user_id)
  return answerPage(await store.channels.editors(user_id, window), idSortKey, paginate)
})

export const handleStartStream = implement(
  startStream,
  async ({ params, body }, { store, directory, clock }) => {
    const now = clock.now()
    const stream = await store.commands.startStream({
      user_id: params.user_id,
      stream_id: decimalId(now),
      video_id: decimalId(now),
      started_at: parsePastSecond('started_at', body.started_at, now) ?? isoSeconds(now),
      viewer_count: body.viewer_count,
    })
    return isRefusal(stream) ? stream : { data: [directory.render(stream)] }
  },
)

export const handleGetStream = implement(getStream, async ({ params }, { store, directory }) => {
  const stream = await store.streams.of(params.user_id)
  return stream ? { data: [directory.render(stream)] } : store.streams.whyNoneOf(params.user_id)
})

export const handleListStreams = implement(
  listStreams,
  async ({ query: { game_id }, window, paginate }, { directory, history }) => {
    const [game_ids, needs] =
      game_id === undefined ? [undefined, 'shown' as const] : [[game_id], 'all' as const]
    const page = await cutAlongWalk({ directory, history }, window, needs, () =>
      directory.page({ game_ids }, window),
    )
    return rawJsonPage(page.rows, paginate(page, rankKey, page.cursorState))
  },
)

export const handleEndStream = implement(endStream, ({ params }, { store, clock }) =>
  store.commands.endStream({ user_id: params.user_id, now: clock.now() }),
)

export const handleKickPublisher = implement(kickPublisher, ({ params }, { store, clock }) =>
  store.commands.kickPublisher({ ...params, now: clock.now() }),
)

export const handleRotateStreamKey = implement(
  rotateStreamKey,
  async ({ params: { user_id }, body }, { store, streamKeys, clock }) =>
    answerOne(
      await replaceStreamKey(
        { user_id, graceSeconds: body.grace_seconds ?? 0 },
        { store, streamKeys, clock },
      ),
    ),
)
