import type { Scenario } from './scenario.ts'

export const createStreamMarker: Scenario = {
  name: 'create-stream-marker',
  work: 'CreateStreamMarker, 32 connections, durable',
  goals: [
    { against: 'bare server', atLeast: 0.3 },
    { against: 'marker loop', atLeast: 2 },
    { against: 'least server' },
  ],
  connections: 32,
  prepare: async ({ marking }) =>
    marking.map(({ id, token }) => ({
      method: 'POST',
      path: '/helix/streams/markers',
      token,
      body: { user_id: id, description: 'the jump' },
    })),
  isRight: ({ data }) => data?.length === 1,
}
