import { deleteVideos } from '../../contract/helix/delete-videos.ts'
import { isRefusal } from '../../contract/problem.ts'
import { theUser } from '../../domain/access.ts'
import { userAuthor } from '../../domain/audit.ts'
import { implement } from '../implement.ts'

export const handleDeleteVideos = implement(deleteVideos, async ({ query, caller }, { store, clock }) => {
  const { user_id } = theUser(caller)
  const author = userAuthor(user_id, deleteVideos.id, clock.now())
  const deleted = await store.as(author).commands.deleteVideos({ ids: query.id, user_id })
  return isRefusal(deleted) ? deleted : { data: deleted }
})
