import { getChannelFollowers } from '../../contract/helix/get-channel-followers.ts'
import { refuseFollowers, theUser } from '../../domain/access.ts'
import type { Caller } from '../../domain/caller.ts'
import { chain, type MaybePromise } from '../../kit/maybe-promise.ts'
import { followerSortKey } from '../../store/queries/follows.ts'
import type { Store } from '../../store/store.ts'
import { answerPage, implement } from '../implement.ts'

export const handleGetChannelFollowers = implement(
  getChannelFollowers,
  ({ query, caller, window, paginate }, { store }) =>
    chain(refuseRows(store, caller, query.broadcaster_id), refused => {
      if (refused !== undefined && query.user_id !== undefined) return refused
      return chain(store.follows.countFollowers(query.broadcaster_id), total => {
        if (refused !== undefined) return { total, data: [], pagination: {} }
        return chain(store.follows.followers(query, window), page => ({
          total,
          ...answerPage(page, followerSortKey, paginate),
        }))
      })
    }),
)

/** Editors get the rows that the broadcaster gets. */
function refuseRows(
  store: Store,
  caller: Caller,
  broadcaster_id: string,
): MaybePromise<ReturnType<typeof refuseFollowers>> {
  const refused = refuseFollowers(caller, broadcaster_id)
  if (refused?.problem !== 'identity_mismatch') return refused
  return store.channels
    .hasEditor(broadcaster_id, theUser(caller).user_id)
    .then(isEditor => (isEditor ? undefined : refused))
}
