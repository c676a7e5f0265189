import { getDropsProgress } from '../../contract/drops/get-drops-progress.ts'
import { theUser } from '../../domain/access.ts'
import { implement } from '../implement.ts'
import { renderProgress } from '../render-drops-campaign.ts'

export const handleGetDropsProgress = implement(getDropsProgress, async ({ caller }, services) => {
  const { user_id } = theUser(caller)
  await services.watchTime.flushViewer(user_id)
  const watched = await services.store.dropProgress.ofViewer(user_id)
  const campaigns = await services.store.campaigns.named(watched.map(each => each.campaign_id))
  return { data: await renderProgress(campaigns, user_id, services) }
})
