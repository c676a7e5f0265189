import { getChannelFollowers } from '../../contract/helix/get-channel-followers.ts'
import { refuseFollowers, theUser } from '../../domain/access.ts'
import type { Caller } from '../../domain/caller.ts'
import { followerSortKey } from '../../store/queries/follows.ts'
import type { Store } from '../../store/store.ts'
import { answerPage, implement } from '../implement.ts'

export const handleGetChannelFollowers = implement(
  getChannelFollowers,
  async ({ query, caller, window, paginate }, { store }) => {
    const refused = await refuseRows(store, caller, query.broadcaster_id)
    if (refused !== undefined && query.user_id !== undefined) return refused
    const total = await store.follows.countFollowers(query.broadcaster_id)
    if (refused !== undefined) return { total, data: [], pagination: {} }
    const page = await store.follows.followers(query, window)
    return { total, ...answerPage(page, followerSortKey, paginate) }
  },
)

/** Editors get the rows that the broadcaster gets. */
async function refuseRows(
  store: Store,
  caller: Caller,
  broadcaster_id: string,
): Promise<ReturnType<typeof refuseFollowers>> {
  const refused = refuseFollowers(caller, broadcaster_id)
  if (refused?.problem !== 'identity_mismatch') return refused
  return (await store.channels.hasEditor(broadcaster_id, theUser(caller).user_id)) ? undefined : refused
}
