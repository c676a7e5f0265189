import type { BenchRequest } from '../load/request.ts'
import { updateBatches } from '../world/world.ts'
import { OF_LEAST, type Scenario } from './scenario.ts'

const PATH = '/helix/entitlements/drops'
const PAGES = 100

const getDropsEntitlementsById: Scenario = {
  name: 'get-drops-entitlements-by-id',
  work: 'GetDropsEntitlements by id',
  goals: { 'bare server': 0.4, 'least server': OF_LEAST },
  grows: true,
  besideWriters: true,
  prepare: async ({ entitlements, appToken: token }) =>
    entitlements.map(({ id }) => ({ path: `${PATH}?id=${id}`, token })),
  isRight: ({ data }) => data?.length === 1,
}

const getDropsEntitlementsOfUser: Scenario = {
  name: 'get-drops-entitlements-of-user',
  work: 'GetDropsEntitlements by user and game',
  goals: { 'bare server': 0.25, 'least server': OF_LEAST },
  grows: true,
  prepare: async ({ entitlements, appToken: token }) =>
    entitlements.map(({ user_id, game_id }) => ({
      path: `${PATH}?user_id=${user_id}&game_id=${game_id}`,
      token,
    })),
  isRight: ({ data }) => data !== undefined && data.length > 0,
}

/** The first hundred pages of everything that the organization has, newest first. */
const getDropsEntitlementsPage: Scenario = {
  name: 'get-drops-entitlements-page',
  work: 'GetDropsEntitlements, page of 20',
  goals: { 'bare server': 0.25, 'least server': OF_LEAST },
  grows: true,
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
}

export const updateDropsEntitlements: Scenario = {
  name: 'update-drops-entitlements',
  work: 'UpdateDropsEntitlements, 100 ids, durable and audited',
  goals: { 'update loop': 0.6 },
  prepare: async world =>
    updateBatches(world).map(body => ({ method: 'PATCH', path: PATH, token: world.appToken, body })),
  isRight: ({ data }) => data?.length === 1 && JSON.stringify(data[0]).includes('SUCCESS'),
}

export const entitlementReads: readonly Scenario[] = [
  getDropsEntitlementsById,
  getDropsEntitlementsOfUser,
  getDropsEntitlementsPage,
]
