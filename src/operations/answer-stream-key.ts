import { refuse } from '../contract/problem.ts'
import type { SealedStreamKey } from '../store/queries/stream-keys.ts'
import type { Call, Services } from './implement.ts'

/** The response with a stored stream key. */
export function answerStreamKey(
  user_id: string,
  stored: SealedStreamKey | undefined,
  { streamKeys, log }: Pick<Services, 'streamKeys' | 'log'>,
  logFields: Call<never>['logFields'],
) {
  const stream_key = stored && streamKeys.open(user_id, stored)
  if (stream_key !== undefined) return { data: [{ stream_key }] as [{ stream_key: string }] }
  log.error(
    { ...logFields(), user_id, key_id: stored?.key_id },
    'could not decrypt a stream key; a master key may be missing',
  )
  return refuse('unavailable')
}
