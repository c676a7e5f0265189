import { appOrUser } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { pageSchema } from '../page.ts'
import { Entitlement, exampleEntitlement, FulfillmentStatus } from '../resources/entitlement.ts'
import { IdFilter, Uuid } from '../resources/id.ts'
import { Type } from '../schema.ts'

/** Decisions D-22 to D-25. */
export const getDropsEntitlements = defineOperation('GET /helix/entitlements/drops', {
  id: 'GetDropsEntitlements',
  summary: "List the entitlements of the client's organization, newest first.",
  description:
    'An app token lists all entitlements of the organization, a user token those of its user. Ids are case-insensitive; ' +
    'unknown ids are absent from the answer.',
  access: appOrUser('user:read:entitlements'),
  query: Type.Object({
    id: Type.Optional(Type.Array(Uuid, { maxItems: 100 })),
    user_id: Type.Optional(IdFilter),
    game_id: Type.Optional(IdFilter),
    fulfillment_status: Type.Optional(FulfillmentStatus),
  }),
  page: { default: 20, maximum: 100, wholeBatchOf: ['id'], before: false },
  returns: pageSchema(Entitlement),
  problems: ['no_organization', 'other_user_filter', 'game_forbidden', 'entitlement_forbidden'],
  example: {
    query: { game_id: '33214', first: 1 },
    answer: { data: [exampleEntitlement], pagination: {} },
  },
})
