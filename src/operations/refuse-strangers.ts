import { type Refusal, refuse } from '../contract/problem.ts'
import { theUser } from '../domain/access.ts'
import type { Caller } from '../domain/caller.ts'
import type { Store } from '../store/store.ts'

/** The markers of a channel are for its broadcaster and editors (D-41). */
export async function refuseStrangers(
  store: Pick<Store, 'channels'>,
  caller: Caller,
  owner_id: string,
): Promise<Refusal<'channel_forbidden'> | undefined> {
  const { user_id } = theUser(caller)
  if (user_id === owner_id || (await store.channels.hasEditor(owner_id, user_id))) return undefined
  return refuse('channel_forbidden')
}
