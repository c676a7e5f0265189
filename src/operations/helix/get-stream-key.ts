import { getStreamKey } from '../../contract/helix/get-stream-key.ts'
import { raise } from '../../contract/problem.ts'
import { requireOwnId } from '../../domain/access.ts'
import { implement } from '../implement.ts'

export const handleGetStreamKey = implement(
  getStreamKey,
  async ({ query, caller }, { store, streamKeys, log }) => {
    const { user_id } = requireOwnId(caller, 'broadcaster_id', query.broadcaster_id)
    const stored = await store.streamKeys.current(user_id)
    const stream_key = stored && streamKeys.open(user_id, stored)
    if (stream_key === undefined) {
      log.error({ user_id, key_id: stored?.key_id }, 'a stream key does not open: is a master key missing?')
      raise('unavailable')
    }
    return { data: [{ stream_key }] }
  },
)
