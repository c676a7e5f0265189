import { operator } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { oneOf, pageOf } from '../page.ts'
import { DecimalId, Name, Uuid } from '../resources/id.ts'
import { Benefit, exampleBenefit } from '../resources/world.ts'
import { Type } from '../schema.ts'

const Played = Type.Optional(Type.Union([DecimalId, Type.Null()]))
const path = { benefit_id: exampleBenefit.id }
const one = { data: [exampleBenefit] }
const input = {
  name: exampleBenefit.name,
  organization_id: exampleBenefit.organization_id,
  game_id: exampleBenefit.game_id,
}

/** Benefits are what an entitlement entitles to. */
export const createBenefit = defineOperation({
  id: 'CreateBenefit',
  summary: 'Creates a benefit and assigns the id.',
  method: 'POST',
  path: '/control/benefits',
  access: operator,
  body: Type.Object({ name: Name, organization_id: Uuid, game_id: Played }),
  returns: oneOf(Benefit),
  problems: ['unknown_reference'],
  example: { body: input, answer: one },
})

export const putBenefit = defineOperation({
  id: 'PutBenefit',
  summary: 'Creates the benefit with this id, or changes it.',
  description: 'A benefit stays with its organization.',
  method: 'PUT',
  path: '/control/benefits/{benefit_id}',
  access: operator,
  params: Type.Object({ benefit_id: Uuid }),
  body: Type.Object({ name: Type.Optional(Name), organization_id: Type.Optional(Uuid), game_id: Played }),
  returns: oneOf(Benefit),
  problems: ['missing_parameter', 'unknown_reference', 'in_use'],
  example: { params: path, body: input, answer: one },
})

export const getBenefit = defineOperation({
  id: 'GetBenefit',
  summary: 'Shows a benefit.',
  method: 'GET',
  path: '/control/benefits/{benefit_id}',
  access: operator,
  params: Type.Object({ benefit_id: Type.String() }),
  returns: oneOf(Benefit),
  problems: ['not_found'],
  example: { params: path, answer: one },
})

export const listBenefits = defineOperation({
  id: 'ListBenefits',
  summary: 'Lists benefits by id.',
  method: 'GET',
  path: '/control/benefits',
  access: operator,
  query: Type.Object({
    organization_id: Type.Optional(Type.String()),
    game_id: Type.Optional(Type.String()),
  }),
  page: { standard: 20, before: false },
  returns: pageOf(Benefit),
  problems: [],
  example: { answer: { ...one, pagination: {} } },
})

export const deleteBenefit = defineOperation({
  id: 'DeleteBenefit',
  summary: 'Deletes a benefit that nobody was granted.',
  method: 'DELETE',
  path: '/control/benefits/{benefit_id}',
  access: operator,
  params: Type.Object({ benefit_id: Type.String() }),
  status: 204,
  problems: ['not_found', 'in_use'],
  example: { params: path },
})
