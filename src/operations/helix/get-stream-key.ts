import { getStreamKey } from '../../contract/helix/get-stream-key.ts'
import { refuse } from '../../contract/problem.ts'
import { requireOwnId } from '../../domain/access.ts'
import { chain } from '../../kit/maybe-promise.ts'
import { implement } from '../implement.ts'

export const handleGetStreamKey = implement(
  getStreamKey,
  ({ query, caller, logFields }, { store, streamKeys, log }) => {
    const { user_id } = requireOwnId(caller, 'broadcaster_id', query.broadcaster_id)
    return chain(store.streamKeys.current(user_id), stored => {
      const stream_key = stored && streamKeys.open(user_id, stored)
      if (stream_key === undefined) {
        log.error(
          { ...logFields(), user_id, key_id: stored?.key_id },
          'could not decrypt a stream key; a master key may be missing',
        )
        return refuse('unavailable')
      }
      return { data: [{ stream_key }] }
    })
  },
)
