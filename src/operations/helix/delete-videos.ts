import { deleteVideos } from '../../contract/helix/delete-videos.ts'
import { isRefusal } from '../../contract/problem.ts'
import { theUser } from '../../domain/access.ts'
import { OPERATOR_CHAIN } from '../../domain/audit.ts'
import { isoMillis } from '../../kit/clock.ts'
import { implement } from '../implement.ts'

export const handleDeleteVideos = implement(deleteVideos, async ({ query, caller }, { store, clock }) => {
  const { user_id } = theUser(caller)
  const author = {
    actor: `user/${user_id}`,
    operation: deleteVideos.id,
    chain: OPERATOR_CHAIN,
    at: isoMillis(clock.now()),
  }
  const deleted = await store.as(author).commands.deleteVideos({ ids: query.id, user_id })
  return isRefusal(deleted) ? deleted : { data: deleted }
})
