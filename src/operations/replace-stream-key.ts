import { type Refusal, refuse } from '../contract/problem.ts'
import { isoMillis } from '../kit/time/clock.ts'
import type { Services } from './implement.ts'

/** Gives a channel a new stream key; the old one stays valid for the grace period. A running broadcast is not interrupted. */
export async function replaceStreamKey(
  { user_id, graceSeconds }: { readonly user_id: string; readonly graceSeconds: number },
  { store, streamKeys, clock }: Pick<Services, 'store' | 'streamKeys' | 'clock'>,
): Promise<{ stream_key: string } | Refusal<'not_found'>> {
  for (;;) {
    const current = await store.streamKeys.current(user_id)
    if (current === undefined) return refuse('not_found', 'channel', user_id)
    const version = current.slot + 1
    const { key, stored } = streamKeys.mint(user_id, version)
    const valid_until = isoMillis(clock.now() + graceSeconds * 1000)
    const refused = await store.commands.rotateStreamKey({
      user_id,
      version,
      stream_key: stored,
      valid_until,
    })
    if (refused === undefined) return { stream_key: key }
    if (refused.problem === 'not_found') return refuse('not_found', 'channel', user_id)
  }
}
