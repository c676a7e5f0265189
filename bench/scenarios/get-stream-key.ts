import type { Scenario } from './scenario.ts'

export const getStreamKey: Scenario = {
  name: 'get-stream-key',
  work: 'GetStreamKey',
  goals: [{ against: 'bare server', atLeast: 0.6 }, { against: 'least server' }],
  connections: 32,
  besideWriters: true,
  prepare: async ({ callers }) =>
    callers.map(({ id, token }) => ({ path: `/helix/streams/key?broadcaster_id=${id}`, token })),
  isRight: ({ data }) => data?.length === 1,
}
