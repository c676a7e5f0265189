import { controlOperation } from '../operation.ts'
import { listing, singleSchema } from '../page.ts'
import { Benefit, exampleBenefit } from '../resources/benefit.ts'
import { DecimalId, Name, Uuid } from '../resources/id.ts'
import { orNull, Type } from '../schema.ts'

const Played = Type.Optional(orNull(DecimalId))
const path = { benefit_id: exampleBenefit.id }
const one = { data: [exampleBenefit] }
const input = {
  name: exampleBenefit.name,
  organization_id: exampleBenefit.organization_id,
  game_id: exampleBenefit.game_id,
}

/** Benefits: the rewards that entitlements grant. */
export const createBenefit = controlOperation('POST /control/benefits', {
  id: 'CreateBenefit',
  summary: 'Create a benefit with a new id.',
  body: Type.Object({ name: Name, organization_id: Uuid, game_id: Played }),
  returns: singleSchema(Benefit),
  problems: ['unknown_reference'],
  example: { body: input, answer: one },
})

export const putBenefit = controlOperation('PUT /control/benefits/{benefit_id}', {
  id: 'PutBenefit',
  summary: 'Create or update the benefit with this id.',
  description: 'The organization of an existing benefit cannot change.',
  params: Type.Object({ benefit_id: Uuid }),
  body: Type.Object({ name: Type.Optional(Name), organization_id: Type.Optional(Uuid), game_id: Played }),
  returns: singleSchema(Benefit),
  problems: ['missing_parameter', 'unknown_reference', 'in_use'],
  example: { params: path, body: input, answer: one },
})

export const getBenefit = controlOperation('GET /control/benefits/{benefit_id}', {
  id: 'GetBenefit',
  summary: 'Get a benefit.',
  returns: singleSchema(Benefit),
  problems: ['not_found'],
  example: { params: path, answer: one },
})

export const listBenefits = controlOperation('GET /control/benefits', {
  id: 'ListBenefits',
  summary: 'List benefits, ordered by id.',
  query: Type.Object({
    organization_id: Type.Optional(Type.String()),
    game_id: Type.Optional(Type.String()),
  }),
  ...listing(Benefit),
  example: { answer: { ...one, pagination: {} } },
})

export const deleteBenefit = controlOperation('DELETE /control/benefits/{benefit_id}', {
  id: 'DeleteBenefit',
  summary: 'Delete a benefit that has no entitlements.',
  problems: ['not_found', 'in_use'],
  example: { params: path },
})
