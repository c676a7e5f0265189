import type { BenchRequest, Scenario } from './scenario.ts'

const PAGES = 100

/** The first hundred pages of everything that the organization has, newest first. */
export const getDropsEntitlementsPage: Scenario = {
  name: 'get-drops-entitlements-page',
  work: 'GetDropsEntitlements, page of 20',
  goals: [{ against: 'bare server', atLeast: 0.3 }, { against: 'least server' }],
  connections: 32,
  grows: true,
  prepare: async ({ appToken: token }, ask) => {
    const pages: BenchRequest[] = [{ path: '/helix/entitlements/drops?first=20', token }]
    for (let last = pages[0]; last !== undefined && pages.length < PAGES; last = pages.at(-1)) {
      const { pagination } = await ask(last)
      if (pagination?.cursor === undefined) break
      pages.push({ path: `/helix/entitlements/drops?first=20&after=${pagination.cursor}`, token })
    }
    return pages
  },
  isRight: ({ data }) => data?.length === 20,
}
