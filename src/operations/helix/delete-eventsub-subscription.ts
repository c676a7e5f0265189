import { deleteEventSubSubscription } from '../../contract/helix/delete-eventsub-subscription.ts'
import { theTokenCaller } from '../../domain/access.ts'
import { implement } from '../implement.ts'

export const handleDeleteEventSubSubscription = implement(
  deleteEventSubSubscription,
  ({ query, caller }, { store }) => {
    const given = theTokenCaller(caller)
    const owner = given.kind === 'user' ? given.user_id : undefined
    return store.commands.deleteEventSubscription({ id: query.id, client_id: given.client_id, owner })
  },
)
