import { raise } from '../contract/problem.ts'
import { theUser } from '../domain/access.ts'
import type { Caller } from '../domain/caller.ts'
import { chain, type MaybePromise } from '../kit/maybe-promise.ts'
import type { Store } from '../store/store.ts'

/** The markers of a channel are for its broadcaster and editors (D-41). */
export function requireOwnerOrEditor(
  store: Pick<Store, 'channels'>,
  caller: Caller,
  owner_id: string,
): MaybePromise<void> {
  const { user_id } = theUser(caller)
  if (user_id === owner_id) return
  return chain(store.channels.hasEditor(owner_id, user_id), isEditor => {
    if (!isEditor) raise('channel_forbidden')
  })
}
