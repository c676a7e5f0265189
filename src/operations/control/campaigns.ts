import {
  addWatchedMinutes,
  deleteCampaign,
  explainCampaign,
  getCampaign,
  getCampaignReport,
  listCampaigns,
  publishCampaign,
  putCampaign,
  stopCampaign,
} from '../../contract/control/campaigns.ts'
import { isRefusal, type ProblemName, type Refusal, refuse } from '../../contract/problem.ts'
import type { Campaign, CampaignPhase } from '../../contract/resources/campaign.ts'
import { campaignPhase, readTimes, type StoredCampaign } from '../../domain/campaign.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { idSortKey } from '../../store/keyset-order.ts'
import type { Store } from '../../store/store.ts'
import { writeCsv } from '../campaign-reports.ts'
import { explainViewer } from '../explain-campaign.ts'
import { answerOne, answerPage, implement, TextFile } from '../implement.ts'
import { toTimestamp } from '../timestamp.ts'

type Timed = Omit<StoredCampaign, 'channel_ids'>

/** A campaign with its phase at this time. */
const withPhase = <Row extends Timed>(campaign: Row, now: number): Row & { phase: CampaignPhase | null } => ({
  ...campaign,
  phase: campaignPhase(readTimes(campaign), now),
})

/** The answer with a campaign, or the refusal. */
function answerCampaign<N extends ProblemName>(
  result: StoredCampaign | Refusal<N>,
  now: number,
): Refusal<N> | { data: Campaign[] } {
  if (isRefusal(result)) return result as Refusal<N>
  return { data: [withPhase<StoredCampaign>(result as StoredCampaign, now)] }
}

export const handlePutCampaign = implement(putCampaign, async ({ params, body }, { store, clock }) => {
  const now = clock.now()
  const { starts_at, ends_at, drops } = body
  const content = {
    ...body,
    organization_id: body.organization_id?.toLowerCase(),
    starts_at: starts_at === undefined ? undefined : isoMillis(toTimestamp(starts_at)),
    ends_at: ends_at === undefined ? undefined : isoMillis(toTimestamp(ends_at)),
    drops: drops?.map(drop => ({
      ...drop,
      id: drop.id.toLowerCase(),
      benefit_ids: drop.benefit_ids.map(id => id.toLowerCase()),
    })),
  }
  return answerCampaign(
    await store.commands.putCampaign({ id: params.campaign_id.toLowerCase(), content, now }),
    now,
  )
})

export const handleGetCampaign = implement(getCampaign, async ({ params }, { store, clock }) =>
  answerCampaign(await findCampaign(store, params.campaign_id), clock.now()),
)

export const handleListCampaigns = implement(
  listCampaigns,
  async ({ query, window, paginate }, { store, clock }) => {
    const page = await store.campaigns.page(query, window)
    const now = clock.now()
    return answerPage({ ...page, rows: page.rows.map(row => withPhase(row, now)) }, idSortKey, paginate)
  },
)

export const handleDeleteCampaign = implement(deleteCampaign, ({ params }, { store }) =>
  store.commands.deleteCampaign({ id: params.campaign_id.toLowerCase() }),
)

export const handlePublishCampaign = implement(publishCampaign, async ({ params }, { store, clock }) => {
  const change = { id: params.campaign_id.toLowerCase(), now: clock.now() }
  return answerCampaign(await store.commands.publishCampaign(change), change.now)
})

export const handleStopCampaign = implement(stopCampaign, async ({ params }, { store, clock }) => {
  const change = { id: params.campaign_id.toLowerCase(), now: clock.now() }
  return answerCampaign(await store.commands.stopCampaign(change), change.now)
})

export const handleExplainCampaign = implement(
  explainCampaign,
  async ({ params, query: { user_id, channel_id } }, services) => {
    const campaign = await findCampaign(services.store, params.campaign_id)
    if (isRefusal(campaign)) return campaign
    for (const id of [user_id, channel_id])
      if ((await services.store.users.find(id)) === undefined) return refuse('not_found', 'user', id)
    return { data: await explainViewer(campaign, { user_id, channel_id }, services) }
  },
)

export const handleGetCampaignReport = implement(
  getCampaignReport,
  async ({ params, query: { format } }, { store, campaignReports }) => {
    const campaign = await findCampaign(store, params.campaign_id)
    if (isRefusal(campaign)) return campaign
    const report = await campaignReports.read(campaign)
    if (format !== 'csv') return { data: [report] }
    return new TextFile({ name: `${campaign.id}.csv`, mediaType: 'text/csv', text: writeCsv(report) })
  },
)

export const handleAddWatchedMinutes = implement(
  addWatchedMinutes,
  async ({ params, body: { add } }, { store, clock }) =>
    answerOne(
      await store.commands.addWatchedMinutes({
        campaign_id: params.campaign_id.toLowerCase(),
        user_id: params.user_id,
        add,
        now: clock.now(),
      }),
    ),
)

async function findCampaign(store: Store, id: string) {
  return (await store.campaigns.find(id)) ?? refuse('not_found', 'campaign', id)
}
