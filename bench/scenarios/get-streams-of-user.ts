import type { Scenario } from '../scenario.ts'

export const getStreamsOfUser: Scenario = {
  name: 'get-streams-of-user',
  work: 'GetStreams by one user, token sent',
  goals: [{ against: 'bare server', atLeast: 0.7 }],
  connections: 32,
  grows: true,
  prepare: async ({ callers }) =>
    callers.map(({ id, token }) => ({ path: `/helix/streams?user_id=${id}`, token })),
  isRight: ({ data }) => data?.length === 1,
}
