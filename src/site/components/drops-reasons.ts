import type { HeartbeatReason } from '../../contract/playback/send-heartbeat.ts'

/** Those of heartbeats (D-230), and that there are none because the page has no player. */
export type NoMinutesReason = HeartbeatReason | 'plays_elsewhere'

/** Why nothing counts, each in a sentence. */
export const REASONS: Readonly<Record<NoMinutesReason, string>> = {
  offline: 'Nothing counts while the channel is offline.',
  too_early: 'Minutes count when you have watched for a minute.',
  no_campaign: 'No campaign counts on this channel right now.',
  not_playing_the_game: 'Minutes count here while the channel plays the game of the campaign.',
  channel_not_listed: 'This campaign counts on other channels only.',
  own_channel: 'You cannot earn drops on your own channel.',
  counts_on_another_channel: 'Your minutes count on another channel: only one channel counts at a time.',
  network_limit: 'Nothing counts now: too many viewers in your network are earning drops.',
  finished: 'You have claimed every drop here.',
  plays_elsewhere: 'Minutes do not count here, because the broadcast does not play on this page.',
}
