import { readTimes } from '../domain/campaign.ts'
import { isoMillis } from '../kit/time/clock.ts'
import type { Store } from '../store/store.ts'

const HOUR_MILLISECONDS = 3_600_000
const BATCH_SIZE = 500
/** The fact that records the time of the last look. */
const LAST_LOOK = 'auto_claim_at'

/**
 * Claims what viewers have reached in campaigns that claim for them and was not claimed with their minutes, such as drops that
 * became easier, or of viewers who have linked their account since (D-222): once an hour, and when a campaign has ended.
 */
export async function claimReachedDrops(
  store: Store,
  now: number,
  wantsToStop: () => boolean,
): Promise<number> {
  const last = Date.parse((await store.facts.find(LAST_LOOK)) ?? '')
  const campaigns = (await store.campaigns.open(isoMillis(now))).filter(each => each.auto_claim)
  const hasEnded = campaigns.some(each => {
    const { ends } = readTimes(each)
    return last < ends && ends <= now
  })
  // A time in the future is that of a clock that was set back.
  const isDue = !(Math.abs(now - last) < HOUR_MILLISECONDS) || hasEnded
  if (!isDue) return 0
  let claimed = 0
  const author = { actor: 'strand', operation: 'ClaimDrop', chain: 'user', at: isoMillis(now) }
  const { commands } = store.as(author)
  for (const { id: campaign_id, drops } of campaigns)
    for (const drop of drops) {
      let after: string | undefined = ''
      while (after !== undefined) {
        if (wantsToStop()) return claimed
        const { user_ids, last: next } = await store.dropProgress.unclaimed(
          campaign_id,
          drop,
          after,
          BATCH_SIZE,
        )
        if (user_ids.length > 0)
          claimed += await commands.claimForViewers({ campaign_id, drop_id: drop.id, user_ids, now })
        after = next
      }
    }
  await commands.setFact({ name: LAST_LOOK, value: isoMillis(now) })
  return claimed
}
