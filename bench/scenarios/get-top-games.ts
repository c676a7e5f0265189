import type { Scenario } from './scenario.ts'

export const getTopGames: Scenario = {
  name: 'get-top-games',
  work: 'GetTopGames, top page of 20',
  goals: [{ against: 'bare server', atLeast: 0.6 }, { against: 'bare server with headers' }],
  connections: 32,
  grows: true,
  besideWriters: true,
  prepare: async ({ appToken }) => [{ path: '/helix/games/top', token: appToken }],
  isRight: ({ data }) => data?.length === 20,
}
