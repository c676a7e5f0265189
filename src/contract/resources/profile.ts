import type { Static } from 'typebox'
import { imageUrl } from '../image-urls.ts'
import { resource, Type } from '../schema.ts'
import { ReturnedUrl, TimeSeconds } from './id.ts'
import { BROADCASTER_TYPES, exampleUser } from './user.ts'

/** A user as clients see it (D-71, D-72). */
export const Profile = resource('Profile', 'A user, as clients see it.', {
  id: Type.String(),
  login: Type.String({ description: 'Lower case.' }),
  display_name: Type.String(),
  type: Type.String({ description: 'Always empty.' }),
  broadcaster_type: Type.Enum(BROADCASTER_TYPES),
  description: Type.String(),
  profile_image_url: ReturnedUrl,
  offline_image_url: Type.String({ description: 'Always empty.' }),
  view_count: Type.Integer({ minimum: 0, description: 'Always 0.' }),
  email: Type.Optional(
    Type.String({
      description:
        "Only in the row of the token's user, and only with the scope `user:read:email`. Empty if the user has no address.",
    }),
  ),
  created_at: TimeSeconds,
})
export type Profile = Static<typeof Profile>

export const exampleProfile: Profile = {
  id: exampleUser.id,
  login: exampleUser.login,
  display_name: exampleUser.display_name,
  type: '',
  broadcaster_type: exampleUser.broadcaster_type,
  description: exampleUser.description,
  profile_image_url: imageUrl('http://localhost:8080', 'users', exampleUser.id),
  offline_image_url: '',
  view_count: 0,
  created_at: '2026-02-01T09:30:00Z',
}
