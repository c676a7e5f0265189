import { SeededRandom } from '../../src/kit/random.ts'
import type { Scenario } from './scenario.ts'

const QUESTIONS = 8000

export const getUsersById: Scenario = {
  name: 'get-users-by-id',
  work: 'GetUsers by one id',
  goals: [{ against: 'bare server', atLeast: 0.6 }],
  connections: 32,
  prepare: async ({ liveIds, appToken: token }) => {
    const random = new SeededRandom(15)
    return Array.from({ length: QUESTIONS }, () => ({
      path: `/helix/users?id=${random.pick(liveIds)}`,
      token,
    }))
  },
  isRight: ({ data }) => data?.length === 1,
}
