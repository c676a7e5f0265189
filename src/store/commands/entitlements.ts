import { type Refusal, refuse } from '../../contract/problem.ts'
import type {
  Entitlement,
  EntitlementUpdate,
  FulfillmentStatus,
  UpdateStatus,
} from '../../contract/resources/entitlement.ts'
import type { EntitlementReach } from '../../domain/access.ts'
import type { EntitlementKey } from '../../domain/audit.ts'
import {
  distinctIds,
  groupByStatus,
  movedForward,
  type UpdateCandidate,
  updateStatus,
} from '../../domain/entitlement.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { isUuid } from '../../kit/uuid.ts'
import type { Transaction } from '../database.ts'
import {
  type EntitlementRow,
  organizationNumber,
  readStatus,
  readTime,
  readUuid,
  storedStatus,
} from '../queries/entitlement-rows.ts'
import { entitlementQueries, entitlementSubject } from '../queries/entitlements.ts'
import { isOneOf, isOneOfUuids, lockRows, sql } from '../sql/tag.ts'
import { emitGrants, emitStatusUpdates } from './entitlement-events.ts'
import { insertEntitlements, type NewEntitlement } from './insert-entitlements.ts'
import { refuseUnknown } from './references.ts'

interface Grant {
  readonly id: string
  readonly user_id: string
  readonly benefit_id: string
  readonly game_id: string
  readonly timestamp: string
  /** Whether the operator sent the timestamp: only then must it match on a repeated grant. */
  readonly timestampGiven: boolean
  readonly campaign_id?: string | undefined
}

/** Grants entitlements, all or none. A repeated id with the same content returns the existing entitlement. */
export async function grantEntitlements(
  tx: Transaction,
  args: { grants: readonly Grant[] },
): Promise<Entitlement[] | Refusal<'unknown_reference' | 'refused_reference' | 'entitlement_conflict'>> {
  const { grants } = args
  const unknown = await refuseUnknown(tx, {
    user: grants.map(grant => grant.user_id),
    benefit: grants.map(grant => grant.benefit_id),
    game: grants.map(grant => grant.game_id),
    campaign: grants.map(grant => grant.campaign_id),
  })
  if (unknown !== undefined) return unknown
  const campaigns = await findCampaigns(tx, grants)

  const owners = await findOrganizations(tx, grants)
  const rows = new Map<string, Entitlement>()
  const existing = await entitlementQueries(tx).named(grants.map(grant => grant.id))
  for (const { organization_id: _, ...row } of existing) rows.set(row.id, row)

  const fresh: (Entitlement & NewEntitlement & { campaign_id: string | undefined })[] = []
  for (const grant of grants) {
    const organization_id = assertDefined(
      owners.ofBenefit.get(grant.benefit_id),
      'the organization of a benefit',
    )
    const ofGame = owners.ofGame.get(grant.game_id) ?? null
    if (ofGame !== null && ofGame !== organization_id) {
      return refuse(
        'refused_reference',
        `The game "${grant.game_id}" is not managed by the organization of the benefit "${grant.benefit_id}".`,
      )
    }
    const campaign = campaigns.get(grant.campaign_id ?? '')
    if (campaign !== undefined && campaign.organization_id !== organization_id) {
      return refuse(
        'refused_reference',
        `The campaign "${grant.campaign_id}" belongs to another organization than the benefit "${grant.benefit_id}".`,
      )
    }
    const known = rows.get(grant.id)
    if (known === undefined) {
      const { timestampGiven: _, campaign_id, ...content } = grant
      const row: Entitlement = {
        ...content,
        fulfillment_status: 'CLAIMED',
        last_updated: grant.timestamp,
        updated_at: grant.timestamp,
      }
      rows.set(grant.id, row)
      fresh.push({ ...row, organization_id, campaign_id, campaign: campaign?.number })
    } else if (!isRepeat(known, grant)) return refuse('entitlement_conflict', grant.id)
  }

  await insertEntitlements(tx, fresh)
  recordGrants(tx, fresh)
  await emitGrants(tx, fresh)
  return grants.flatMap(grant => rows.get(grant.id) ?? [])
}

/** Entitlements granted together are recorded as one entry. */
function recordGrants(tx: Transaction, granted: readonly Entitlement[]): void {
  const [only] = granted
  if (only === undefined) return
  if (granted.length === 1) tx.record({ ...entitlementSubject(only), after: 'CLAIMED' })
  else tx.record({ subject: 'entitlements', after: { granted: granted.map(row => row.id) } })
}

function isRepeat(known: Entitlement, grant: Grant): boolean {
  return (
    known.user_id === grant.user_id &&
    known.benefit_id === grant.benefit_id &&
    known.game_id === grant.game_id &&
    (!grant.timestampGiven || known.timestamp === grant.timestamp)
  )
}

async function findCampaigns(tx: Transaction, grants: readonly Grant[]) {
  const ids = [...new Set(grants.flatMap(({ campaign_id }) => campaign_id ?? []))]
  const rows =
    ids.length === 0
      ? []
      : await tx.all<{ id: string; number: number; organization_id: string }>(
          sql`select id, number, organization_id from campaigns where ${isOneOf(sql`id`, ids)}`,
        )
  return new Map(rows.map(row => [row.id, row]))
}

async function findOrganizations(tx: Transaction, grants: readonly Grant[]) {
  const benefits = await tx.all<{ id: string; organization_id: string }>(
    sql`select id, organization_id from benefits where ${isOneOf(
      sql`id`,
      grants.map(grant => grant.benefit_id),
    )}`,
  )
  const games = await tx.all<{ id: string; organization_id: string | null }>(
    sql`select id, organization_id from games where ${isOneOf(
      sql`id`,
      grants.map(grant => grant.game_id),
    )}`,
  )
  return {
    ofBenefit: new Map(benefits.map(row => [row.id, row.organization_id])),
    ofGame: new Map(games.map(row => [row.id, row.organization_id])),
  }
}

/** An entitlement whose status changes, as text and as it is stored. */
interface StatusChange {
  readonly id: string
  readonly stored: EntitlementKey
}

/**
 * Records changes of the status that happened at one time, as one entry. `last_updated` only moves forward: the history of an
 * entitlement stays in order even if node clocks disagree.
 */
export function recordStatuses(
  tx: Transaction,
  changed: readonly StatusChange[],
  before: FulfillmentStatus,
  after: FulfillmentStatus,
  at?: string,
): void {
  const [only, ...more] = changed
  if (only === undefined || before === after) return
  const time = at === undefined ? {} : { at }
  if (more.length === 0) {
    const timestamp = readTime(only.stored.timestamp)
    tx.record({ ...entitlementSubject({ id: only.id, timestamp }), ...time, before, after })
  } else
    tx.record({
      subject: 'entitlements',
      ...time,
      before: { fulfillment_status: before },
      after: { fulfillment_status: after, ids: changed.map(each => each.id) },
      entitlements: changed.map(each => each.stored),
    })
}

/** Sets the status of entitlements the caller may change, and reports on every id (D-27, D-28). Locks rows in id order. */
export async function updateEntitlements(
  tx: Transaction,
  args: {
    ids: readonly string[]
    fulfillment_status: FulfillmentStatus
    reach: EntitlementReach
    /** Entitlements whose write must fail: lets a demo produce UPDATE_FAILED. */
    failing: readonly string[]
    now: number
  },
): Promise<EntitlementUpdate[]> {
  const { fulfillment_status, reach, now } = args
  const echoes = distinctIds(args.ids)
  const found = await lockCandidates(tx, [...echoes.keys()].filter(isUuid), reach)
  const failing = new Set(args.failing)
  const statuses: [echo: string, UpdateStatus][] = []
  const succeeded: Candidate[] = []
  for (const [id, echo] of echoes) {
    const candidate = found.get(id)
    const status = updateStatus(id, candidate, reach, failing)
    statuses.push([echo, status])
    if (status === 'SUCCESS') succeeded.push(assertDefined(candidate, 'an updated row'))
  }

  for (const [time, rows] of Map.groupBy(succeeded, row => movedForward(row.last_updated, now))) {
    await tx.run(
      sql`update organization_entitlements set fulfilled = ${storedStatus(fulfillment_status)}, last_updated = ${time}
          where ${isOneOfUuids(
            sql`id`,
            rows.map(row => row.stored.id),
          )}`,
    )
    const updated_at = isoMillis(time)
    for (const [before, changed] of Map.groupBy(rows, row => row.previous_status))
      recordStatuses(tx, changed, before, fulfillment_status, updated_at)
    await emitStatusUpdates(tx, reach.organization_id, () =>
      rows.map(({ id, user_id, game_id, previous_status }) => {
        return { id, user_id, game_id, fulfillment_status, previous_status, updated_at }
      }),
    )
  }
  return groupByStatus(statuses)
}

interface Candidate extends UpdateCandidate, StatusChange {
  readonly game_id: string
  readonly previous_status: FulfillmentStatus
  readonly last_updated: number
}

/** The entitlements with these ids. Their organization is known only if it is the caller's. */
async function lockCandidates(
  tx: Transaction,
  ids: readonly string[],
  reach: EntitlementReach,
): Promise<Map<string, Candidate>> {
  const rows = await tx.all<CandidateRow>(
    sql`select timestamp, id, last_updated, fulfilled, user_id, game_id,
          case when organization = ${organizationNumber(reach.organization_id)} then 1 else 0 end as is_own
        from organization_entitlements where ${isOneOfUuids(sql`id`, ids)} order by id${lockRows}`,
  )
  const candidates = new Map<string, Candidate>()
  for (const row of rows) {
    const id = readUuid(row.id)
    candidates.set(id, {
      id,
      stored: { timestamp: Number(row.timestamp), id: row.id },
      organization_id: row.is_own === 1 ? reach.organization_id : undefined,
      user_id: row.user_id,
      game_id: row.game_id,
      previous_status: readStatus(row.fulfilled),
      last_updated: Number(row.last_updated),
    })
  }
  return candidates
}

type CandidateRow = Omit<EntitlementRow, 'organization' | 'benefit'> & { readonly is_own: number }
