import type { Static } from 'typebox'
import { imageUrl } from '../image-urls.ts'
import { resource, Type } from '../schema.ts'
import { exampleStream } from './stream.ts'

/** A channel as searches return it; never null (D-65, D-87). */
export const FoundChannel = resource('FoundChannel', 'A channel, as searches return it.', {
  broadcaster_language: Type.String({ description: 'ISO 639-1 code.' }),
  broadcaster_login: Type.String(),
  display_name: Type.String(),
  game_id: Type.String({ description: 'Empty if no game is set.' }),
  game_name: Type.String(),
  id: Type.String({ description: 'The user id of the broadcaster.' }),
  is_live: Type.Boolean(),
  tag_ids: Type.Array(Type.String(), { description: 'Always empty: replaced by `tags`.' }),
  tags: Type.Array(Type.String()),
  thumbnail_url: Type.String({ format: 'uri', description: 'The profile image of the broadcaster.' }),
  title: Type.String(),
  started_at: Type.String({ description: 'RFC 3339 UTC, whole seconds; empty if the channel is not live.' }),
})
export type FoundChannel = Static<typeof FoundChannel>

export const exampleFoundChannel: FoundChannel = {
  broadcaster_language: exampleStream.language,
  broadcaster_login: exampleStream.user_login,
  display_name: exampleStream.user_name,
  game_id: exampleStream.game_id,
  game_name: exampleStream.game_name,
  id: exampleStream.user_id,
  is_live: true,
  tag_ids: [],
  tags: exampleStream.tags,
  thumbnail_url: imageUrl('http://localhost:8080', 'users', exampleStream.user_id),
  title: exampleStream.title,
  started_at: exampleStream.started_at,
}
