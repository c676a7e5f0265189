import { user } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { singleSchema } from '../page.ts'
import { DropClaim, exampleClaim } from '../resources/campaign.ts'
import { Uuid } from '../resources/id.ts'
import { Type } from '../schema.ts'

/** Decisions D-220, D-221. */
export const claimDrop = defineOperation('POST /drops/claims', {
  id: 'ClaimDrop',
  summary: 'Claim a drop that the user has reached.',
  description:
    'The user gets an entitlement for each benefit of the drop. A drop that is claimed already gives the same answer again.',
  access: user('user:manage:drops'),
  body: Type.Object({ drop_id: Uuid }),
  returns: singleSchema(DropClaim),
  repeatable: true,
  problems: ['not_found', 'drop_not_reached', 'claim_closed', 'account_not_linked'],
  example: { body: { drop_id: exampleClaim.drop_id }, answer: { data: [exampleClaim] } },
})
