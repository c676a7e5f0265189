import { updateBatches } from '../world/world.ts'
import type { Scenario } from './scenario.ts'

export const updateDropsEntitlements: Scenario = {
  name: 'update-drops-entitlements',
  work: 'UpdateDropsEntitlements, 100 ids, 32 connections, durable',
  goals: [{ against: 'update loop', atLeast: 0.4 }],
  connections: 32,
  prepare: async world =>
    updateBatches(world).map(body => ({
      method: 'PATCH',
      path: '/helix/entitlements/drops',
      token: world.appToken,
      body,
    })),
  isRight: ({ data }) => data?.length === 1 && JSON.stringify(data[0]).includes('SUCCESS'),
}
