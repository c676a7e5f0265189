import type { Scenario } from './scenario.ts'

export const getStreamMarkers: Scenario = {
  name: 'get-stream-markers',
  work: 'GetStreamMarkers, 20 of 200',
  goals: [{ against: 'bare server', atLeast: 0.4 }, { against: 'least server' }],
  connections: 32,
  prepare: async ({ marked }) =>
    marked.map(({ id, token }) => ({ path: `/helix/streams/markers?user_id=${id}`, token })),
  isRight: ({ data, pagination }) => data?.length === 1 && pagination?.cursor !== undefined,
}
