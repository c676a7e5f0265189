import { getStreamKey } from '../../contract/helix/get-stream-key.ts'
import { requireOwnId } from '../../domain/access.ts'
import { chain } from '../../kit/maybe-promise.ts'
import { answerStreamKey } from '../answer-stream-key.ts'
import { implement } from '../implement.ts'

export const handleGetStreamKey = implement(
  getStreamKey,
  ({ query, caller, logFields }, { store, streamKeys, log }) => {
    const { user_id } = requireOwnId(caller, 'broadcaster_id', query.broadcaster_id)
    return chain(store.streamKeys.current(user_id), stored =>
      answerStreamKey(user_id, stored, { streamKeys, log }, logFields),
    )
  },
)
