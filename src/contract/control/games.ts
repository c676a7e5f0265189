import { controlOperation } from '../operation.ts'
import { listing, singleSchema } from '../page.ts'
import { exampleGame, Game, IgdbId } from '../resources/game.ts'
import { DecimalId, Name, Uuid } from '../resources/id.ts'
import { orNull, Type } from '../schema.ts'

const Owner = Type.Optional(orNull(Uuid))
const path = { game_id: exampleGame.id }
const one = { data: [exampleGame] }
const { id: _, ...input } = exampleGame

/** Games. Those with an organization can have drops. */
export const createGame = controlOperation('POST /control/games', {
  id: 'CreateGame',
  summary: 'Create a game with a new id.',
  body: Type.Object({ name: Name, organization_id: Owner, igdb_id: Type.Optional(IgdbId) }),
  returns: singleSchema(Game),
  problems: ['unknown_reference'],
  example: { body: input, answer: one },
})

export const putGame = controlOperation('PUT /control/games/{game_id}', {
  id: 'PutGame',
  summary: 'Create or update the game with this id.',
  params: Type.Object({ game_id: DecimalId }),
  body: Type.Object({
    name: Type.Optional(Name),
    organization_id: Owner,
    igdb_id: Type.Optional(IgdbId),
  }),
  returns: singleSchema(Game),
  problems: ['missing_parameter', 'unknown_reference'],
  example: { params: path, body: input, answer: one },
})

export const getGame = controlOperation('GET /control/games/{game_id}', {
  id: 'GetGame',
  summary: 'Get a game.',
  returns: singleSchema(Game),
  problems: ['not_found'],
  example: { params: path, answer: one },
})

export const listGames = controlOperation('GET /control/games', {
  id: 'ListGames',
  summary: 'List games, ordered by id.',
  query: Type.Object({
    organization_id: Type.Optional(Type.String()),
    name: Type.Optional(Type.String({ description: 'Exact match, case-sensitive.' })),
  }),
  ...listing(Game),
  example: { answer: { ...one, pagination: {} } },
})

export const deleteGame = controlOperation('DELETE /control/games/{game_id}', {
  id: 'DeleteGame',
  summary: 'Delete a game that has neither benefits nor entitlements, and remove it from channels.',
  problems: ['not_found', 'in_use'],
  example: { params: path },
})
