import {
  getEntitlement,
  getEntitlementHistory,
  grantEntitlements,
  listEntitlements,
} from '../../contract/control/entitlements.ts'
import type { Key, Page, PageRequest } from '../../contract/page.ts'
import { isRefusal, refuse } from '../../contract/problem.ts'
import type { Entitlement, FulfillmentStatus } from '../../contract/resources/entitlement.ts'
import { uuid } from '../../kit/id.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { auditSortKey } from '../../store/queries/audit-rows.ts'
import { entitlementSortKey } from '../../store/queries/entitlements.ts'
import type { Store } from '../../store/store.ts'
import { answerOne, answerPage, implement } from '../implement.ts'
import { toTimestamp } from '../timestamp.ts'

export const handleGrantEntitlements = implement(grantEntitlements, async ({ body }, { store, clock }) => {
  const now = clock.now()
  const granted = await store.commands.grantEntitlements({
    grants: body.grants.map(grant => ({
      id: grant.id?.toLowerCase() ?? uuid(),
      user_id: grant.user_id,
      benefit_id: grant.benefit_id.toLowerCase(),
      game_id: grant.game_id,
      timestamp: isoMillis(grant.timestamp === undefined ? now : toTimestamp(grant.timestamp)),
      timestampGiven: grant.timestamp !== undefined,
      campaign_id: grant.campaign_id?.toLowerCase(),
    })),
  })
  return isRefusal(granted) ? granted : { data: granted }
})

export const handleListEntitlements = implement(
  listEntitlements,
  async ({ query, window, paginate }, { store }) => {
    const page = await store.entitlements.page(
      {
        organization_id: query.organization_id?.toLowerCase(),
        user_id: query.user_id,
        game_id: query.game_id,
        benefit_id: query.benefit_id?.toLowerCase(),
        fulfillment_status: query.fulfillment_status,
        ids: query.id?.map(id => id.toLowerCase()),
      },
      window,
    )
    return answerPage(page, entitlementSortKey, paginate)
  },
)

export const handleGetEntitlement = implement(getEntitlement, async ({ params }, { store }) => {
  const [entitlement] = await store.entitlements.named([params.entitlement_id.toLowerCase()])
  return answerOne(entitlement ?? refuse('not_found', 'entitlement', params.entitlement_id))
})

/** Sorts the grant before all changes, whatever their timestamps. */
const GRANT_KEY = ['', '', 0] as const

export const handleGetEntitlementHistory = implement(
  getEntitlementHistory,
  async ({ params, window, paginate }, { store }) => {
    const id = params.entitlement_id.toLowerCase()
    const [entitlement] = await store.entitlements.named([id])
    if (entitlement === undefined) return refuse('not_found', 'entitlement', params.entitlement_id)
    const page =
      window.from === undefined
        ? await readFirstPage(store, entitlement, window)
        : await readChanges(store, entitlement, afterGrant(window))
    return answerPage(withUnrecorded(page, entitlement, window), row => row.key, paginate)
  },
)

/** After the grant the changes begin; no time is before all of theirs. */
function afterGrant({ from, ...window }: PageRequest): PageRequest {
  return from === undefined || from[0] === GRANT_KEY[0] ? window : { ...window, from }
}

interface Step {
  readonly at: string
  readonly from: FulfillmentStatus | null
  readonly to: FulfillmentStatus
  readonly actor: string | null
  readonly key: Key
}

async function readFirstPage(
  store: Store,
  entitlement: Entitlement,
  window: PageRequest,
): Promise<Page<Step>> {
  const granted = await store.audit.grantOf(entitlement)
  const actor = granted?.actor ?? null
  const grant: Step = { at: entitlement.timestamp, from: null, to: 'CLAIMED', actor, key: GRANT_KEY }
  const changes = await readChanges(store, entitlement, { ...window, first: window.first - 1 })
  return { ...changes, rows: [grant, ...changes.rows] }
}

async function readChanges(store: Store, entitlement: Entitlement, window: PageRequest): Promise<Page<Step>> {
  const page = await store.audit.changesOf(entitlement, window)
  const rows = page.rows.map(entry => ({
    at: entry.at,
    from: statusIn(entry.before),
    to: statusIn(entry.after),
    actor: entry.actor,
    key: auditSortKey(entry),
  }))
  return { ...page, rows }
}

/** A change of one entitlement has its status, one of several an object. */
function statusIn(state: unknown): FulfillmentStatus {
  const status = typeof state === 'object' && state !== null ? (state as Changed).fulfillment_status : state
  return status === 'FULFILLED' ? 'FULFILLED' : 'CLAIMED'
}

interface Changed {
  readonly fulfillment_status: FulfillmentStatus
}

/** Adds the last step, without an actor, if the log lacks it: the status was imported, or its log row was removed. */
function withUnrecorded(page: Page<Step>, entitlement: Entitlement, window: PageRequest): Page<Step> {
  const { fulfillment_status: to, last_updated: at } = entitlement
  const last = page.rows.at(-1)
  if (page.more || last?.to === to) return page
  if (page.rows.length === window.first) return { ...page, more: true }
  const from = to === 'CLAIMED' ? 'FULFILLED' : 'CLAIMED'
  return { ...page, rows: [...page.rows, { at, from, to, actor: null, key: GRANT_KEY }] }
}
