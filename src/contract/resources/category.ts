import type { Static } from 'typebox'
import { imageUrl } from '../image-urls.ts'
import { resource, Type } from '../schema.ts'
import { exampleGame } from './game.ts'

/** A game as clients see it. */
export const Category = resource('Category', 'A game, as clients see it.', {
  id: Type.String(),
  name: Type.String(),
  box_art_url: Type.String({
    format: 'uri-template',
    description: 'Contains the literal text `{width}x{height}`.',
  }),
  igdb_id: Type.String({ description: 'Empty if unknown.' }),
})
export type Category = Static<typeof Category>

export const exampleCategory: Category = {
  id: exampleGame.id,
  name: exampleGame.name,
  box_art_url: imageUrl('http://localhost:8080', 'games', exampleGame.id),
  igdb_id: exampleGame.igdb_id,
}
