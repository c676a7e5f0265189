import { controlOperation } from '../operation.ts'
import { listing, pageSchema, singleSchema } from '../page.ts'
import {
  Entitlement,
  EntitlementTransition,
  exampleEntitlement,
  FulfillmentStatus,
} from '../resources/entitlement.ts'
import { DecimalId, GivenTime, Uuid } from '../resources/id.ts'
import { listSchema } from '../resources/list.ts'
import { Type } from '../schema.ts'

const Grant = Type.Object({
  user_id: DecimalId,
  benefit_id: Uuid,
  game_id: DecimalId,
  id: Type.Optional(Uuid),
  timestamp: Type.Optional(GivenTime),
  campaign_id: Type.Optional({ ...Uuid, description: 'The campaign that it is granted in, for the event.' }),
})

/** Entitlements: a user has earned a benefit of an organization in a game. */
export const grantEntitlements = controlOperation('POST /control/entitlements', {
  id: 'GrantEntitlements',
  summary:
    'Grant 1 to 1000 entitlements, all or none; they start as CLAIMED and are returned in the order given.',
  description: 'A grant with an existing id and the same content succeeds and changes nothing.',
  body: Type.Object({ grants: listSchema(Grant, 1, 1000) }),
  returns: Type.Object({ data: Type.Array(Entitlement) }),
  problems: ['unknown_reference', 'refused_reference', 'entitlement_conflict'],
  example: {
    body: {
      grants: [
        {
          user_id: exampleEntitlement.user_id,
          benefit_id: exampleEntitlement.benefit_id,
          game_id: exampleEntitlement.game_id,
        },
      ],
    },
    answer: { data: [exampleEntitlement] },
  },
})

export const listEntitlements = controlOperation('GET /control/entitlements', {
  id: 'ListEntitlements',
  summary: 'List entitlements of all organizations, newest first.',
  query: Type.Object({
    organization_id: Type.Optional(Type.String()),
    user_id: Type.Optional(Type.String()),
    game_id: Type.Optional(Type.String()),
    benefit_id: Type.Optional(Type.String()),
    fulfillment_status: Type.Optional(FulfillmentStatus),
    id: Type.Optional(listSchema(Uuid, 0, 100)),
  }),
  page: { default: 20, maximum: 100, wholeBatchOf: ['id'], before: false },
  returns: pageSchema(Entitlement),
  example: { answer: { data: [exampleEntitlement], pagination: {} } },
})

export const getEntitlement = controlOperation('GET /control/entitlements/{entitlement_id}', {
  id: 'GetEntitlement',
  summary: 'Get an entitlement of any organization.',
  returns: singleSchema(Entitlement),
  problems: ['not_found'],
  example: { params: { entitlement_id: exampleEntitlement.id }, answer: { data: [exampleEntitlement] } },
})

export const getEntitlementHistory = controlOperation('GET /control/entitlements/{entitlement_id}/history', {
  id: 'GetEntitlementHistory',
  summary:
    'Get the history of an entitlement, oldest first: the grant, then each change of status and who made it.',
  description: 'Changes come from the audit log, as far back as it is kept.',
  ...listing(EntitlementTransition),
  problems: ['not_found'],
  example: {
    params: { entitlement_id: exampleEntitlement.id },
    answer: {
      data: [
        { at: exampleEntitlement.timestamp, from: null, to: 'CLAIMED', actor: 'operator' },
        {
          at: '2026-03-01T12:03:07.500Z',
          from: 'CLAIMED',
          to: 'FULFILLED',
          actor: 'client/reefdrops0fulfilment0backend01',
        },
      ],
      pagination: {},
    },
  },
})
