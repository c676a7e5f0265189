import type { Static } from 'typebox'
import { orNull, resource, Type } from '../schema.ts'
import { exampleGame } from './game.ts'
import { Name, ReturnedUuid } from './id.ts'
import { exampleOrganization } from './organization.ts'

export const Benefit = resource('Benefit', 'What an entitlement entitles to.', {
  id: ReturnedUuid,
  name: Name,
  organization_id: ReturnedUuid,
  game_id: orNull(Type.String()),
})
export type Benefit = Static<typeof Benefit>

export const exampleBenefit: Benefit = {
  id: '74c52265-e214-48a6-91b9-23b6014e8041',
  name: 'Coral lantern',
  organization_id: exampleOrganization.id,
  game_id: exampleGame.id,
}
