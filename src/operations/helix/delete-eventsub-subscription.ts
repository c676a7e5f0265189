import { deleteEventSubSubscription } from '../../contract/helix/delete-eventsub-subscription.ts'
import { theTokenCaller } from '../../domain/access.ts'
import { implement } from '../implement.ts'

export const handleDeleteEventSubSubscription = implement(
  deleteEventSubSubscription,
  ({ query, caller }, { store }) => {
    const { client_id } = theTokenCaller(caller)
    return store.commands.deleteEventSubscription({ id: query.id, client_id })
  },
)
