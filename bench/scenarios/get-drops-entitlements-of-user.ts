import type { Scenario } from './scenario.ts'

export const getDropsEntitlementsOfUser: Scenario = {
  name: 'get-drops-entitlements-of-user',
  work: 'GetDropsEntitlements by user and game',
  goals: [{ against: 'bare server', atLeast: 0.3 }, { against: 'least server' }],
  connections: 32,
  grows: true,
  prepare: async ({ entitlements, appToken: token }) =>
    entitlements.map(({ user_id, game_id }) => ({
      path: `/helix/entitlements/drops?user_id=${user_id}&game_id=${game_id}`,
      token,
    })),
  isRight: ({ data }) => data !== undefined && data.length > 0,
}
