import { SeededRandom } from '../../src/kit/random.ts'
import { READ, READ_WITH_LEAST, type Scenario } from './scenario.ts'

/** Users or channels by ids that are drawn from those who are live. */
const byIds = (path: string, parameter: string, count: number): Scenario['prepare'] => {
  return async ({ liveIds, appToken: token }) => {
    const random = new SeededRandom(15)
    return Array.from({ length: count === 1 ? 8000 : 500 }, () => {
      const ids = new Set<string>()
      while (ids.size < count) ids.add(random.pick(liveIds))
      return { path: `${path}?${[...ids].map(id => `${parameter}=${id}`).join('&')}`, token }
    })
  }
}

/** As client libraries ask for the users and channels of a page of streams. */
const OF_100_IDS = { goals: { ...READ_WITH_LEAST, least: 0.5 } }

export const userReads: readonly Scenario[] = [
  {
    name: 'get-users-by-id',
    work: 'GetUsers by one id',
    goals: READ,
    prepare: byIds('/helix/users', 'id', 1),
    isRight: ({ data }) => data?.length === 1,
  },
  {
    name: 'get-users-by-100-ids',
    work: 'GetUsers by 100 ids',
    ...OF_100_IDS,
    prepare: byIds('/helix/users', 'id', 100),
    isRight: ({ data }) => data?.length === 100,
  },
  {
    name: 'get-channels-by-100-ids',
    work: 'GetChannelInformation by 100 ids',
    ...OF_100_IDS,
    prepare: byIds('/helix/channels', 'broadcaster_id', 100),
    isRight: ({ data }) => data?.length === 100,
  },
]
