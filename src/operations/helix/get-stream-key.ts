import { getStreamKey } from '../../contract/helix/get-stream-key.ts'
import { isRefusal } from '../../contract/problem.ts'
import { requireOwnId } from '../../domain/access.ts'
import { answerStreamKey } from '../answer-stream-key.ts'
import { implement } from '../implement.ts'

export const handleGetStreamKey = implement(
  getStreamKey,
  async ({ query, caller, logFields }, { store, streamKeys, log }) => {
    const own = requireOwnId(caller, 'broadcaster_id', query.broadcaster_id)
    if (isRefusal(own)) return own
    const { user_id } = own
    const stored = await store.streamKeys.current(user_id)
    return answerStreamKey(user_id, stored, { streamKeys, log }, logFields)
  },
)
