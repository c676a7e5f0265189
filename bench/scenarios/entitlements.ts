import type { BenchRequest } from '../load/request.ts'
import { updateBatches } from '../world/world.ts'
import { READ_WITH_LEAST, type Scenario, WRITE } from './scenario.ts'

const PATH = '/helix/entitlements/drops'
const PAGES = 100

export const entitlementReads: readonly Scenario[] = [
  {
    name: 'get-drops-entitlements-by-id',
    work: 'GetDropsEntitlements by id',
    goals: READ_WITH_LEAST,
    grows: true,
    prepare: async ({ entitlements, appToken: token }) =>
      entitlements.map(({ id }) => ({ path: `${PATH}?id=${id}`, token })),
    isRight: ({ data }) => data?.length === 1,
  },
  {
    name: 'get-drops-entitlements-of-user',
    work: 'GetDropsEntitlements by user and game',
    goals: READ_WITH_LEAST,
    grows: true,
    prepare: async ({ entitlements, appToken: token }) =>
      entitlements.map(each => ({ path: `${PATH}?user_id=${each.user_id}&game_id=${each.game_id}`, token })),
    isRight: ({ data }) => data !== undefined && data.length > 0,
  },
  {
    name: 'get-drops-entitlements-page',
    work: 'GetDropsEntitlements, page of 20',
    goals: READ_WITH_LEAST,
    grows: true,
    // The first hundred pages of everything that the organization has, newest first.
    prepare: async ({ appToken: token }, ask) => {
      const pages: BenchRequest[] = [{ path: `${PATH}?first=20`, token }]
      for (let last = pages[0]; last !== undefined && pages.length < PAGES; last = pages.at(-1)) {
        const { pagination } = await ask(last)
        if (pagination?.cursor === undefined) break
        pages.push({ path: `${PATH}?first=20&after=${pagination.cursor}`, token })
      }
      return pages
    },
    isRight: ({ data }) => data?.length === 20,
  },
]

const updateDropsEntitlements = (name: string, work: string, idsPerCall: number): Scenario => ({
  name,
  work,
  goals: WRITE,
  prepare: async world =>
    updateBatches(world, idsPerCall).map(body => ({
      method: 'PATCH',
      path: PATH,
      token: world.appToken,
      body,
    })),
  isRight: ({ data }) => data?.length === 1 && JSON.stringify(data[0]).includes('SUCCESS'),
})

export const entitlementWrites: readonly Scenario[] = [
  updateDropsEntitlements('update-drops-entitlement', 'UpdateDropsEntitlements, 1 id', 1),
  updateDropsEntitlements('update-drops-entitlements', 'UpdateDropsEntitlements, 100 ids', 100),
]
