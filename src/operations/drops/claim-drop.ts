import { claimDrop } from '../../contract/drops/claim-drop.ts'
import { isRefusal } from '../../contract/problem.ts'
import { theUser } from '../../domain/access.ts'
import { userAuthor } from '../../domain/audit.ts'
import { actorName } from '../../domain/caller.ts'
import { answerOne, implement } from '../implement.ts'

export const handleClaimDrop = implement(claimDrop, async ({ body, caller }, { store, watchTime, clock }) => {
  const { user_id } = theUser(caller)
  await watchTime.flushViewer(user_id)
  const now = clock.now()
  const author = { ...userAuthor(user_id, claimDrop.id, now), actor: actorName(caller) }
  const claim = await store
    .as(author)
    .commands.claimDrop({ user_id, drop_id: body.drop_id.toLowerCase(), now })
  if (!isRefusal(claim)) watchTime.noteClaim(user_id, claim)
  return answerOne(claim)
})
