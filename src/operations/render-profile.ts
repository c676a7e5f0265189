import { imageUrl } from '../contract/image-urls.ts'
import type { Profile } from '../contract/resources/profile.ts'
import type { Caller } from '../domain/caller.ts'
import type { ShownUser } from '../store/queries/users.ts'

/** A user as a caller sees it: only the user's own token with the scope shows the address (D-71). */
export function renderProfile(user: ShownUser, caller: Caller, publicUrl: string): Profile {
  const { id, login, display_name, broadcaster_type, description } = user
  const profile: Profile = {
    id,
    login,
    display_name,
    type: '',
    broadcaster_type,
    description,
    profile_image_url: imageUrl(publicUrl, 'users', id),
    offline_image_url: '',
    view_count: 0,
    created_at: `${user.created_at.slice(0, 19)}Z`,
  }
  if (caller.kind === 'user' && caller.user_id === id && caller.scopes.includes('user:read:email'))
    profile.email = user.email ?? ''
  return profile
}
