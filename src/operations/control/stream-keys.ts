import {
  createStreamKey,
  deleteStreamKey,
  listStreamKeys,
  readStreamKey,
} from '../../contract/control/stream-keys.ts'
import { isRefusal, refuse } from '../../contract/problem.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { extraKeySortKey } from '../../store/queries/stream-keys.ts'
import { answerStreamKey } from '../answer-stream-key.ts'
import { answerPage, implement } from '../implement.ts'
import { toTimestamp } from '../timestamp.ts'

export const handleCreateStreamKey = implement(
  createStreamKey,
  async ({ params: { user_id }, body }, { store, streamKeys, clock }) => {
    const { name } = body
    const now = clock.now()
    const ends = body.valid_until === undefined ? null : toTimestamp(body.valid_until)
    if (ends !== null && ends <= now)
      return refuse('refused_reference', 'The parameter "valid_until" must be in the future.')
    const valid_until = ends === null ? null : isoMillis(ends)
    const { key, stored } = streamKeys.mint(user_id, name)
    const created = await store.commands.createStreamKey({
      user_id,
      name,
      stream_key: stored,
      valid_until,
      now,
    })
    return isRefusal(created) ? created : { data: [{ ...created, stream_key: key }] }
  },
)

export const handleListStreamKeys = implement(
  listStreamKeys,
  async ({ params: { user_id }, window, paginate }, { store }) => {
    if ((await store.channels.find(user_id)) === undefined) return refuse('not_found', 'channel', user_id)
    return answerPage(await store.streamKeys.extras(user_id, window), extraKeySortKey, paginate)
  },
)

export const handleReadStreamKey = implement(
  readStreamKey,
  async ({ params: { user_id }, query: { name }, logFields }, { store, streamKeys, clock, log }) => {
    const main = await store.streamKeys.current(user_id)
    if (main === undefined) return refuse('not_found', 'channel', user_id)
    const stored =
      name === undefined ? main : await store.streamKeys.extra(user_id, name, isoMillis(clock.now()))
    if (stored === undefined) return refuse('name_not_found', 'stream key', name ?? '')
    return answerStreamKey(user_id, stored, { streamKeys, log }, logFields)
  },
)

export const handleDeleteStreamKey = implement(deleteStreamKey, ({ params }, { store }) =>
  store.commands.deleteStreamKey(params),
)
