import { imageUrl } from '../contract/image-urls.ts'
import type { Category } from '../contract/resources/category.ts'
import type { Game } from '../contract/resources/game.ts'

/** A game as clients see it. */
export function renderCategory(
  { id, name, igdb_id }: Pick<Game, 'id' | 'name' | 'igdb_id'>,
  publicUrl: string,
): Category {
  return { id, name, box_art_url: imageUrl(publicUrl, 'games', id), igdb_id }
}
