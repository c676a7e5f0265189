import { updateUser } from '../../contract/helix/update-user.ts'
import { refuse } from '../../contract/problem.ts'
import { theUser } from '../../domain/access.ts'
import { userAuthor } from '../../domain/audit.ts'
import { implement } from '../implement.ts'
import { renderProfile } from '../render-profile.ts'

export const handleUpdateUser = implement(
  updateUser,
  async ({ query, caller }, { store, clock, publicUrl }) => {
    const { user_id } = theUser(caller)
    const { description } = query
    const author = userAuthor(user_id, updateUser.id, clock.now())
    const user =
      description === undefined
        ? await store.users.find(user_id)
        : await store.as(author).commands.changeProfile({ id: user_id, description })
    // Tokens are deleted with their user, so this one has just become invalid.
    if (user === undefined) return refuse('token_invalid')
    return { data: [renderProfile(user, caller, publicUrl)] }
  },
)
