import type { Scenario } from './scenario.ts'

export const getChannelFollowersTotal: Scenario = {
  name: 'get-channel-followers-total',
  work: 'GetChannelFollowers, the total of a channel with ten followers per stream',
  goals: [{ against: 'bare server', atLeast: 0.5 }],
  connections: 32,
  prepare: async ({ appToken, mostFollowed }) => [
    { path: `/helix/channels/followers?broadcaster_id=${mostFollowed}&first=1`, token: appToken },
  ],
  isRight: ({ total = 0, data }) => total > 0 && data?.length === 0,
}
