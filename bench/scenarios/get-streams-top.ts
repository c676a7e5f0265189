import type { Scenario } from './scenario.ts'

export const getStreamsTop: Scenario = {
  name: 'get-streams-top',
  work: 'GetStreams, top page of 20',
  goals: [{ against: 'bare server', atLeast: 0.85 }, { against: 'bare server with headers' }],
  connections: 32,
  grows: true,
  besideWriters: true,
  prepare: async () => [{ path: '/helix/streams' }],
  isRight: ({ data }) => data?.length === 20,
}
