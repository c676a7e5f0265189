import type { Scenario } from './scenario.ts'

export const getDropsEntitlementsById: Scenario = {
  name: 'get-drops-entitlements-by-id',
  work: 'GetDropsEntitlements by id',
  goals: [{ against: 'bare server', atLeast: 0.4 }, { against: 'least server' }],
  connections: 32,
  grows: true,
  besideWriters: true,
  prepare: async ({ entitlements, appToken: token }) =>
    entitlements.map(({ id }) => ({ path: `/helix/entitlements/drops?id=${id}`, token })),
  isRight: ({ data }) => data?.length === 1,
}
