import { FOLLOWED_LIVE } from '../world/world.ts'
import type { Scenario } from './scenario.ts'

export const getFollowedStreams: Scenario = {
  name: 'get-followed-streams',
  work: 'GetFollowedStreams, 500 follows, 40 live',
  goals: [{ against: 'bare server', atLeast: 0.5 }, { against: 'least server' }],
  connections: 32,
  prepare: async ({ followers }) =>
    followers.map(({ id, token }) => ({ path: `/helix/streams/followed?user_id=${id}`, token })),
  isRight: ({ data }) => data?.length === FOLLOWED_LIVE,
}
