import { appOrUser } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { EntitlementUpdate, FulfillmentStatus } from '../resources/entitlement.ts'
import { Type } from '../schema.ts'

/** Decisions D-26 to D-28. */
export const updateDropsEntitlements = defineOperation('PATCH /helix/entitlements/drops', {
  id: 'UpdateDropsEntitlements',
  summary: 'Set the fulfillment status of up to 100 entitlements and return the outcome for each id.',
  description:
    'Successful updates are written in one transaction that is durable before the answer is sent. Each id appears once, in the group of its status.',
  access: appOrUser('user:manage:entitlements'),
  body: Type.Object({
    entitlement_ids: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }),
    fulfillment_status: FulfillmentStatus,
  }),
  repeatable: true,
  returns: Type.Object({ data: Type.Array(EntitlementUpdate) }),
  problems: ['no_organization'],
  example: {
    body: {
      entitlement_ids: ['fb78259e-fb81-4d1b-8333-34a06ffc24c0', 'not-an-id'],
      fulfillment_status: 'FULFILLED',
    },
    answer: {
      data: [
        { status: 'SUCCESS', ids: ['fb78259e-fb81-4d1b-8333-34a06ffc24c0'] },
        { status: 'INVALID_ID', ids: ['not-an-id'] },
      ],
    },
  },
})
