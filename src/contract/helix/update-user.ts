import { user } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { singleSchema } from '../page.ts'
import { exampleProfile, Profile } from '../resources/profile.ts'
import { Type } from '../schema.ts'

/** Decisions D-69, D-71 to D-73. */
export const updateUser = defineOperation('PUT /helix/users', {
  id: 'UpdateUser',
  summary: 'Change the description of the user of the token.',
  access: user('user:edit'),
  query: Type.Object({
    description: Type.Optional(
      Type.String({
        maxLength: 300,
        emptyIsValue: true,
        description: 'Empty: removes the description. Absent: changes nothing.',
      }),
    ),
  }),
  returns: singleSchema(Profile),
  example: {
    query: { description: exampleProfile.description },
    answer: { data: [exampleProfile] },
  },
})
