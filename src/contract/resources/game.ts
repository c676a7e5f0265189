import type { Static } from 'typebox'
import { orNull, resource, Type } from '../schema.ts'
import { Name, ReturnedUuid } from './id.ts'
import { exampleOrganization } from './organization.ts'

export const IgdbId = Type.String({
  pattern: '^(0|[1-9][0-9]{0,18})?$',
  hint: 'decimal digits, or empty',
  description: 'The id of the game at IGDB; empty: unknown.',
})

export const Game = resource('Game', 'A game, as the control API shows it.', {
  id: Type.String(),
  name: Name,
  organization_id: orNull(ReturnedUuid),
  igdb_id: Type.String({ description: 'Empty if unknown.' }),
})
export type Game = Static<typeof Game>

export const exampleGame: Game = {
  id: '33214',
  name: 'Tidefall',
  organization_id: exampleOrganization.id,
  igdb_id: '90210',
}
