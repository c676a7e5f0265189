import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { exampleCampaign } from '../resources/campaign.ts'
import { ReturnedUuid } from '../resources/id.ts'
import { Type } from '../schema.ts'

/** Why a heartbeat earns nothing (D-230). */
export const HEARTBEAT_REASONS = [
  'offline',
  'too_early',
  'no_campaign',
  'not_playing_the_game',
  'channel_not_listed',
  'own_channel',
  'counts_on_another_channel',
  'network_limit',
  'finished',
] as const
export type HeartbeatReason = (typeof HEARTBEAT_REASONS)[number]

/** Decisions D-121, D-230. */
export const sendHeartbeat = defineOperation('POST /playback/heartbeat', {
  id: 'SendHeartbeat',
  summary: 'Report that a playback session is still watching.',
  description:
    'Send one immediately after the session starts, then every 30 s. A session without a heartbeat for 75 s is no longer counted. After a 401, start a new session. A session that earns drops gets the progress of its viewer; others get 204.',
  access: open,
  body: Type.Object({ session: Type.String({ minLength: 1, maxLength: 500 }) }),
  mayBeEmpty: true,
  returns: Type.Object({
    data: Type.Array(
      Type.Object({
        campaign_id: ReturnedUuid,
        minutes: Type.Integer(),
        claimable: Type.Array(ReturnedUuid, { description: 'Drops that are reached and not claimed.' }),
      }),
      { description: 'The active campaigns of the channel.' },
    ),
    reason: Type.Optional(
      Type.Enum(HEARTBEAT_REASONS, { description: 'Why this heartbeat earned nothing; absent if it did.' }),
    ),
  }),
  problems: ['invalid_session'],
  example: {
    body: { session: '<PLAYBACK_SESSION>' },
    answer: { data: [{ campaign_id: exampleCampaign.id, minutes: 23, claimable: [] }] },
  },
})
