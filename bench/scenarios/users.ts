import { SeededRandom } from '../../src/kit/random.ts'
import type { Scenario } from './scenario.ts'

const getUsersById: Scenario = {
  name: 'get-users-by-id',
  work: 'GetUsers by one id',
  goals: { 'bare server': 0.6 },
  prepare: async ({ liveIds, appToken: token }) => {
    const random = new SeededRandom(15)
    return Array.from({ length: 8000 }, () => ({ path: `/helix/users?id=${random.pick(liveIds)}`, token }))
  },
  isRight: ({ data }) => data?.length === 1,
}

/** As client libraries ask for the users of a page of streams. */
const getUsersBy100Ids: Scenario = {
  name: 'get-users-by-100-ids',
  work: 'GetUsers by 100 ids',
  goals: { 'bare server': 0.3 },
  prepare: async ({ liveIds, appToken: token }) => {
    const random = new SeededRandom(16)
    return Array.from({ length: 500 }, () => {
      const ids = new Set<string>()
      while (ids.size < 100) ids.add(random.pick(liveIds))
      return { path: `/helix/users?${[...ids].map(id => `id=${id}`).join('&')}`, token }
    })
  },
  isRight: ({ data }) => data?.length === 100,
}

export const userReads: readonly Scenario[] = [getUsersById, getUsersBy100Ids]
