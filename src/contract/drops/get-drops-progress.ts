import { user } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { rowsSchema } from '../page.ts'
import { DropsProgress, exampleProgress } from '../resources/campaign.ts'

/** Decision D-230. */
export const getDropsProgress = defineOperation('GET /drops/progress', {
  id: 'GetDropsProgress',
  summary: 'Get the progress of the user in all campaigns in which the user has minutes, at most 100.',
  access: user('user:read:drops'),
  returns: rowsSchema(DropsProgress),
  example: { answer: { data: [exampleProgress] } },
})
