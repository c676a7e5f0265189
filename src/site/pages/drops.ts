/** The drops of a viewer: campaigns with the progress of the viewer, claims, and what was earned (D-157, D-233). */
import type { Client } from '../../client/index.ts'
import type { DropsCampaign } from '../../contract/resources/campaign.ts'
import { benefitNames } from '../components/campaign.tsx'
import type { Page } from '../render/page.ts'
import { expiredFormPage } from '../render/problem-page.tsx'
import { apiFor } from '../request/api-for.ts'
import type { Browser } from '../request/browser.ts'
import { findCountingChannel } from '../request/drops-channels.ts'
import { type PageHandler, type PageServices, readSession, type SessionServices } from '../request/session.ts'
import { isRefused } from '../scripts/refused.ts'
import { type DropsNotices, dropsPage, type EarnedDrop, type RunningCampaign } from './drops-view.tsx'

const FIRST = 20
/** Campaigns in which the viewer has no minutes are shown up to this number. */
const MAX_OTHERS = 20

type DropsServices = SessionServices &
  Pick<PageServices, 'siteTokens' | 'callApi' | 'publicUrl' | 'campaigns' | 'directory'>

export const showDrops: PageHandler = async (browser, services: DropsServices) =>
  renderDrops(browser, services, {})

/** POST /drops: claims a drop. A script gets JSON, a browser the page with what was earned or why nothing was. */
export const submitClaim: PageHandler = async (browser, services: DropsServices) => {
  const form = await browser.form()
  if (form === undefined) return expiredFormPage()
  const drop_id = form.get('drop_id') ?? ''
  if ((await readSession(browser, services)) === undefined)
    return browser.prefersHtml
      ? { goTo: '/login?next=/drops' }
      : { status: 401, json: { message: 'Log in to claim the drop.' } }
  const { drops } = await apiFor(browser, services, ['user:manage:drops'])
  try {
    await drops.claimDrop({ drop_id })
  } catch (error) {
    if (!isRefused(error)) throw error
    const { status, message } = error
    if (!browser.prefersHtml) return { status, json: { message } }
    return { ...(await renderDrops(browser, services, { refused: message, drop_id })), status }
  }
  if (!browser.prefersHtml) return { json: { drop_id } }
  return { goTo: `/drops?claimed=${encodeURIComponent(drop_id)}` }
}

async function renderDrops(
  browser: Browser,
  services: DropsServices,
  { refused, drop_id }: { readonly refused?: string; readonly drop_id?: string },
): Promise<Page> {
  const session = await readSession(browser, services)
  const client = await apiFor(browser, services, ['user:read:entitlements', 'user:read:drops'])
  const after = refused === undefined ? browser.parameter('after') : undefined
  const isFirst = after === undefined
  const campaigns = isFirst ? await readCampaigns(client, session !== undefined) : []
  const earned = session === undefined ? undefined : await readEarned(client, services, after)
  const notices = toNotices(campaigns, refused, drop_id ?? browser.parameter('claimed'))
  return dropsPage({
    csrf: session && browser.csrfToken(),
    campaigns: await Promise.all(
      campaigns.map(async campaign => ({
        ...campaign,
        watch: await findWatch(campaign, session?.user_id, services),
      })),
    ),
    earned: earned?.rows ?? [],
    isFirst,
    cursor: earned?.cursor,
    now: services.clock.now(),
    ...notices,
  })
}

/** All campaigns in which the viewer can do something, and some others: the oldest end first, those with minutes before. */
async function readCampaigns({ drops }: Client, isUser: boolean): Promise<DropsCampaign[]> {
  const phases = isUser ? (['active', 'upcoming', 'claimable'] as const) : (['active', 'upcoming'] as const)
  const pages = await Promise.all(phases.map(phase => drops.getDropsCampaigns({ phase, first: 100 })))
  const listed = pages.flatMap(({ data }) => data)
  const known = new Set(listed.map(({ id }) => id))
  // Of very many campaigns, a page of the list need not have those of the viewer.
  const own = isUser ? (await drops.getDropsProgress()).data : []
  const missing = own.filter(
    each => !known.has(each.campaign_id) && each.drops.some(({ state }) => isOpenState(state)),
  )
  const others = await Promise.all(missing.map(({ campaign_id }) => drops.getDropsCampaign({ campaign_id })))
  const all = [...listed, ...others.flatMap(({ data }) => data)]
  const hasMinutes = ({ progress }: DropsCampaign) => progress !== undefined && progress.minutes > 0
  const byEnd = all.toSorted((a, b) => (a.ends_at < b.ends_at ? -1 : 1))
  return [...byEnd.filter(hasMinutes), ...byEnd.filter(each => !hasMinutes(each)).slice(0, MAX_OTHERS)]
}

const isOpenState = (state: string): boolean => state === 'claimable' || state === 'earning'

/** A channel to watch, where minutes count now. */
async function findWatch(
  { id, phase }: DropsCampaign,
  viewer_id: string | undefined,
  services: DropsServices,
): Promise<RunningCampaign['watch']> {
  return phase === 'active' ? findCountingChannel(id, viewer_id, services) : undefined
}

/** What became of the last claim. Only what this viewer has is confirmed. */
function toNotices(
  campaigns: readonly DropsCampaign[],
  refused: string | undefined,
  drop_id: string | undefined,
): DropsNotices {
  const campaign = campaigns.find(({ drops }) => drops.some(({ id }) => id === drop_id))
  if (refused !== undefined) return { refused, about: campaign }
  const drop = campaign?.drops.find(({ id }) => id === drop_id)
  const state = campaign?.progress?.drops.find(each => each.drop_id === drop_id)?.state
  return drop === undefined || state !== 'claimed' ? {} : { claimed: benefitNames(drop), about: campaign }
}

/** Entitlements of all organizations, newest first. */
async function readEarned(
  { helix }: Client,
  { store }: DropsServices,
  after: string | undefined,
): Promise<{ rows: EarnedDrop[]; cursor: string | undefined }> {
  const page = await helix.getDropsEntitlements({ first: FIRST, ...(after && { after }) })
  const benefits = await store.benefits.withIds(page.data.map(({ benefit_id }) => benefit_id))
  const games = await store.games.withIds(page.data.map(({ game_id }) => game_id))
  const [benefitsById, gamesById] = [benefits, games].map(
    rows => new Map(rows.map(({ id, name }) => [id, name])),
  )
  const rows = page.data.map(each => ({
    id: each.id,
    benefit: benefitsById?.get(each.benefit_id) ?? each.benefit_id,
    game_id: each.game_id,
    game: gamesById?.get(each.game_id),
    isFulfilled: each.fulfillment_status === 'FULFILLED',
    granted_at: each.timestamp,
    updated_at: each.last_updated,
  }))
  return { rows, cursor: page.pagination.cursor }
}
