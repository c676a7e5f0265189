import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { Type } from '../schema.ts'

/** Decision D-121. */
export const sendHeartbeat = defineOperation('POST /playback/heartbeat', {
  id: 'SendHeartbeat',
  summary: 'Report that a playback session is still watching.',
  description:
    'Send one immediately after the session starts, then every 30 s. A session without a heartbeat for 75 s is no longer counted. After a 401, start a new session.',
  access: open,
  body: Type.Object({ session: Type.String({ minLength: 1, maxLength: 500 }) }),
  problems: ['invalid_session'],
  example: { body: { session: '<PLAYBACK_SESSION>' } },
})
